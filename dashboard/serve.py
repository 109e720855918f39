"""How does the screen start?

One process, one address on this machine, one middleware around everything. Binding to the loopback address keeps
other machines out; it does not keep out other programs of this machine.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from dashboard import security, settings
from dashboard.jobs import failure_of
from dashboard.state import SECTION, Opened, as_section
from dashboard.widgets import states

SCRIPT = Path(__file__).parent / "app.py"
_INDEX = Path(st.__file__).parent / "static" / "index.html"
_OPEN_WITHIN_SECONDS = 30.0

LOG = logging.getLogger("winnow")


def build_app(opened: Opened) -> st.App:
    """Return the whole application; one in a process."""
    hashes = security.script_hashes(_INDEX.read_text(encoding="utf-8"))
    return st.App(
        SCRIPT,
        secrets={SECTION: as_section(opened)},
        middleware=[Middleware(security.Guard, hosts=settings.HOSTS, hashes=hashes)],
        on_script_error=show_error,
    )


def run(workspace: Path, paths: Sequence[Path], port: int | None = None, open_browser: bool = True) -> None:
    """Serve until interrupted; without a port the usual one, or a free one when that is taken."""
    chosen = port if port is not None else free_port()
    workspace.mkdir(parents=True, exist_ok=True)
    opened = Opened(workspace.resolve(), tuple(path.resolve() for path in paths))
    app = build_app(opened)
    url = f"http://{settings.ADDRESS}:{chosen}"
    sys.stdout.write(f"Winnow is at {url} (Ctrl-C ends it)\n")
    sys.stdout.flush()
    if open_browser:
        threading.Thread(target=_open_when_up, args=(url, chosen), daemon=True).start()
    # Ctrl-C is how this ends; without this it would print a traceback.
    with contextlib.suppress(KeyboardInterrupt):
        app.run(config=settings.options(chosen))


def free_port() -> int:
    """Return the usual port when nobody listens there, else any free one."""
    for wanted in (settings.PREFERRED_PORT, 0):
        with socket.socket() as probe:
            try:
                probe.bind((settings.ADDRESS, wanted))
            except OSError as error:
                LOG.info("port %d is taken: %s", wanted, error)
                continue
            return int(probe.getsockname()[1])
    raise RuntimeError("no free port on the loopback address")


def show_error(error: Exception) -> bool:
    """Show an unexpected error of a page as a state with an id; the trace goes to the log of the process only."""
    failure = failure_of(error)
    LOG.error("error %s on a page", failure.error_id, exc_info=error)
    states.failed(failure)
    return True


def _open_when_up(url: str, port: int) -> None:
    deadline = time.monotonic() + _OPEN_WITHIN_SECONDS
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            probe.settimeout(0.5)
            if probe.connect_ex((settings.ADDRESS, port)) == 0:
                webbrowser.open(url)
                return
        time.sleep(0.1)
