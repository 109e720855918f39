"""Which other file belongs to this one?

Some agents spread a session over files that lie beside each other and differ in the ending of their names. Only a
regular file in the same folder is taken, no link: a link could lead to a file the user did not mean to open. A name
that fits does not prove that the files belong together; the reader checks what the formats let it check.
"""

from __future__ import annotations

from pathlib import Path

from engine.lines.source import FileSource, Source


def companion(source: Source, ending: str, other: str) -> Source | None:
    """Return the file beside a source whose name ends in `other` in place of `ending`, or None."""
    if not isinstance(source, FileSource) or not source.path.name.endswith(ending):
        return None
    path: Path = source.path.with_name(source.path.name.removesuffix(ending) + other)
    try:
        return FileSource(path) if path.is_file() and not path.is_symlink() else None
    except OSError:
        # The folder cannot be searched any more: the same as no file beside it, and the reader says what is missing.
        return None
