"""What every test may rely on: a closed network, a deterministic hypothesis, and one rule for missing programs."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

IN_CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}
LOOPBACK = {"127.0.0.1", "::1", "localhost", "0.0.0.0"}  # noqa: S104 - compared, never bound

settings.register_profile(
    "winnow", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("winnow")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that makes sweeps long."""
    parser.addoption("--sweep", type=int, default=0, help="number of generated cases for the long sweeps")


@pytest.fixture
def sweep(request: pytest.FixtureRequest) -> Callable[[int], int]:
    """Return a function that gives the number of cases: the usual one, or the one asked for with --sweep."""
    asked = int(request.config.getoption("--sweep"))
    return lambda usual: asked or usual


def need_program(name: str) -> str:
    """Return the path of a system program; without it fail in CI, skip at a desk and say so."""
    path = os.environ.get(name.upper()) or shutil.which(name)
    if path is None:
        message = f"{name} is not installed: install the system package to run this test"
        if IN_CI:
            pytest.fail(message)
        pytest.skip(message)
    return path


@pytest.fixture(scope="session")
def program() -> Callable[[str], str]:
    """Return `need_program`."""
    return need_program


@pytest.fixture(autouse=True)
def closed_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection that leaves this machine: the product opens none, so a test that does is a fault."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else None
        if host is not None and str(host) not in LOOPBACK:
            raise AssertionError(f"a test tried to reach {host}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
