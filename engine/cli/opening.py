"""What do these files say, on screen?

Starts the dashboard over ledgers, sessions and folders. Files are read, never written to; the page listens on this
machine only.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import platformdirs
import typer

from engine.errors import UsageError
from engine.load import exists

Workspace = Annotated[Path | None, typer.Option(help="Folder for Winnow's own data; the user data folder otherwise.")]
Port = Annotated[int | None, typer.Option(min=1, max=65535, help="Port; 8501 or a free one otherwise.")]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")]


def open_paths(
    paths: Annotated[list[Path], typer.Argument(help="Ledgers, session files, content files, folders.")],
    *,
    workspace: Workspace = None,
    port: Port = None,
    browser: Browser = True,
) -> None:
    """Open the dashboard over ledgers, sessions and folders."""
    for path in paths:
        if not exists(path):
            raise UsageError("no_such_path", "no such file or folder", where=str(path), hint="check the spelling")
    serve(workspace or default_workspace(), paths, port, browser=browser)


def default_workspace() -> Path:
    """Return the platform's user data folder for Winnow."""
    return Path(platformdirs.user_data_dir("winnow", appauthor=False))


def serve(workspace: Path, paths: Sequence[Path], port: int | None, *, browser: bool) -> None:
    """Start the dashboard; ends with Ctrl-C."""
    # Loaded late: the screen's libraries take seconds, which no other command should pay.
    start = importlib.import_module("dashboard.serve")
    start.run(workspace, paths, port=port, open_browser=browser)
