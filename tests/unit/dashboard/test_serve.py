"""Does the whole application answer as one, behind its guard?"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard import serve

START = """
import sys
from pathlib import Path
from dashboard.serve import run
run(Path(sys.argv[1]), [], int(sys.argv[2]), False)
"""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the real server in a process of its own."""
    port = _free_port()
    folder = tmp_path_factory.mktemp("workspace")
    process = subprocess.Popen(
        [sys.executable, "-c", START, str(folder), str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": str(Path(serve.__file__).parents[1])},
    )
    url = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 60
    while True:
        assert process.poll() is None, process.stdout
        assert time.monotonic() < deadline, "the server did not start"
        try:
            if _get(f"{url}/_stcore/health")[0] == 200:
                break
        except urllib.error.URLError:
            time.sleep(0.1)
    yield url
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert b"Traceback" not in out
    assert f"Winnow is at {url}".encode() in out


def _get(url: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str]]:
    request = urllib.request.Request(url, method=method, headers=headers)  # noqa: S310 - our own server
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:  # noqa: S310 - same
            return reply.status, {k.lower(): v for k, v in reply.headers.items()}
    except urllib.error.HTTPError as error:
        with error:
            return error.code, {k.lower(): v for k, v in error.headers.items()}


def test_page_carries_the_policy(server: str) -> None:
    """The page and its scripts come with the policy, which names the page's own inline script."""
    status, headers = _get(server)
    assert status == 200
    assert "'sha256-" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["", "/_stcore/health", "/_stcore/host-config"])
def test_foreign_host_gets_nothing(server: str, path: str) -> None:
    """Every route refuses a foreign host, the framework's own ones too."""
    assert _get(server + path, Host="evil.example")[0] == 403


@pytest.mark.parametrize(
    "path", ["/_stcore/agent", "/_stcore/agent/mcp", "/_stcore/agent/openapi.json", "/_stcore/metrics"]
)
def test_programs_cannot_press_buttons(server: str, path: str) -> None:
    """The framework's agent interface and its metrics answer 403, with our own origin too."""
    assert _get(server + path)[0] == 403
    assert _get(server + path, "POST", Origin=server)[0] == 403


def test_another_port_is_found_when_the_usual_is_taken() -> None:
    """A second start does not fail: it takes a free port."""
    with socket.socket() as taken:
        # Taken already by another program of this machine: as good for this test.
        with contextlib.suppress(OSError):
            taken.bind(("127.0.0.1", serve.settings.PREFERRED_PORT))
        assert serve.free_port() != serve.settings.PREFERRED_PORT
