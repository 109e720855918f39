"""The dashboard starts from the command line, answers on this machine and ends without a trace."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("winnow")
START_SECONDS = 60


def _started(*words: object) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [COMMAND, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            return process, found[0]
    _, err = process.communicate(timeout=START_SECONDS)
    raise AssertionError(err)


def _answers(url: str) -> int:
    deadline = time.monotonic() + START_SECONDS
    while True:
        with closing(HTTPConnection(url.removeprefix("http://"), timeout=5)) as connection:
            try:
                connection.request("GET", "/_stcore/health")
                return connection.getresponse().status
            except OSError:
                if time.monotonic() > deadline:
                    raise
        time.sleep(0.1)


@pytest.fixture(params=["demo", "open"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the dashboard with each of its two commands."""
    paths = [tmp_path] if request.param == "open" else []
    started = _started(request.param, *paths, "--no-browser", "--workspace", tmp_path / "own")
    yield started
    if started[0].poll() is None:
        started[0].kill()
        started[0].communicate()


def test_the_dashboard_answers_and_ends(server: tuple[subprocess.Popen[str], str], tmp_path: Path) -> None:
    """The printed address answers; Ctrl-C ends the program without a traceback."""
    process, url = server
    assert _answers(url) == 200
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=START_SECONDS)
    assert "Traceback" not in err
    assert process.returncode in {0, 130}
