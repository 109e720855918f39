"""How are the texts, pins and snapshots of a command read?

Strictly: what is not UTF-8, not one JSON value, or too long is refused with its place, since another reading would be
judged as if it were the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.cli.progress import progress_line
from engine.errors import CannotLookError, LimitError, UsageError
from engine.findings import Watch
from engine.lines.source import FileSource
from engine.lines.strict import parse_exact
from engine.load import InputKind, discover, load_input
from engine.spans.inline import read_snapshot
from engine.spans.pinfile import HeldPins, read_pins
from engine.spans.session import SessionAudit, audit_session
from engine.spans.snapshot import Snapshot, snapshot
from engine.transcripts.reader import choose_reader, read_transcript

MAX_FILE = 64 * 1024 * 1024


def snapshot_for(pins: Path | None, snapshot_file: Path | None, event: str) -> Snapshot:
    """Return the snapshot given, or one of the pins given; raises `UsageError` for none and for both.

    A snapshot may also be given as the file of pins.
    """
    if (pins is None) == (snapshot_file is None):
        raise UsageError("AUDIT_WITHOUT_PINS", "expected --pins FILE or --snapshot FILE, and not both")
    if snapshot_file is not None:
        return snapshot_in(snapshot_file)
    kept = _snapshot_of_pins(pins)
    return snapshot(event, (), held_pins(pins).pins) if kept is None else kept


def held_pins(pins: Path | None) -> HeldPins:
    """Return the pins of a file, or those of a snapshot that get a verdict; none without a file."""
    if pins is None:
        return HeldPins()
    kept = _snapshot_of_pins(pins)
    return read_pins(bytes_in(pins), str(pins)) if kept is None else HeldPins(tuple(kept.judged()))


def _snapshot_of_pins(pins: Path | None) -> Snapshot | None:
    """Return the snapshot that stands in a file of pins; None for any other content, which `read_pins` judges."""
    data = b"" if pins is None else bytes_in(pins)
    if not data.lstrip().startswith(b"{") or b'"event_id"' not in data:
        return None
    try:
        parsed = parse_exact(data.decode("utf-8"))
    except UnicodeDecodeError:
        return None
    is_one = parsed.problem is None and not parsed.duplicates and isinstance(parsed.value, dict)
    return read_snapshot(parsed.value) if is_one and "event_id" in parsed.value else None


def snapshot_in(path: Path) -> Snapshot:
    """Read a snapshot file; raises as `read_snapshot`."""
    parsed = parse_exact(text_in(path))
    if parsed.problem is not None or parsed.duplicates:
        raise CannotLookError("SNAPSHOT_NOT_JSON", "expected one JSON object without repeated names", where=str(path))
    return read_snapshot(parsed.value)


def refuse_other_snapshot(out: Path) -> None:
    """Raise when a file is there that is no snapshot, so that none is written over."""
    if out.exists():
        snapshot_in(out)


def spans_in(path: Path) -> list[str]:
    """Return the spans of a file: a JSON list of texts, or the lines that are not blank."""
    text = text_in(path)
    if not text.lstrip().startswith("["):
        return [line for line in text.splitlines() if line.strip()]
    parsed = parse_exact(text)
    if parsed.problem is not None or not isinstance(parsed.value, list):
        raise CannotLookError("SPANS_NOT_READ", "expected a JSON list of texts, or one span a line", where=str(path))
    for number, each in enumerate(parsed.value):
        if not isinstance(each, str):
            raise CannotLookError("SPANS_NOT_READ", "expected a text", where=f"{path} spans[{number}]")
    return parsed.value


def text_in(path: Path) -> str:
    """Return a text file; raises for what is not UTF-8, since another reading would be judged."""
    data = bytes_in(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        where = f"{path} byte {error.start}"
        raise CannotLookError("TEXT_NOT_UTF8", "the text is not UTF-8", where=where, hint="convert it first") from error


def bytes_in(path: Path) -> bytes:
    """Return the bytes of a file of bounded size."""
    with FileSource(path).open() as stream:
        data = stream.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        raise LimitError("FILE_TOO_LONG", f"a file of more than {MAX_FILE} bytes", where=str(path))
    return data


def watched() -> Watch:
    """Return a watch that draws a line on a terminal."""
    return Watch(progress_line())


def audited_sessions(
    paths: Sequence[Path], held: HeldPins
) -> tuple[tuple[SessionAudit, ...], tuple[tuple[Path, str], ...]]:
    """Audit every session of the files and folders given.

    What was named and cannot be read comes back with its reason, and so does a session in a folder, also one of a
    format that is known and not read; other files of a folder are passed over.
    """
    files, notices = discover(paths)
    done: list[SessionAudit] = []
    unread = [(Path(finding.note), finding.code.sentence) for finding in notices]
    for path in files:
        if path not in paths and load_input(FileSource(path)).kind is not InputKind.TRANSCRIPT:
            unread += _not_supported(path)
            continue
        try:
            session = read_transcript(FileSource(path))
        except (CannotLookError, UsageError) as error:
            unread.append((path, str(error)))
            continue
        done.append(audit_session(session, held=held.pins, unpinned=held.unpinned, watch=watched()))
    return tuple(done), tuple(unread)


def _not_supported(path: Path) -> list[tuple[Path, str]]:
    """Return the reason when a file is a session that nothing here reads; in silence it would look like none."""
    try:
        choose_reader(FileSource(path))
    except UsageError as error:
        return [(path, str(error))] if error.code == "format_not_supported" else []
    except CannotLookError as error:
        return [(path, str(error))]
    return []
