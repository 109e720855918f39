"""Who is let in, and what may a page do?"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from dashboard import security, settings

BASE = "http://127.0.0.1:8501"


async def _page(_: Request) -> PlainTextResponse:
    return PlainTextResponse("page", headers={"x-frame-options": "ALLOWALL"})


async def _stream(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text("open")
    await socket.close()


@pytest.fixture
def client() -> Iterator[TestClient]:
    """Serve a page and a stream behind the guard."""
    routes = [Route("/{rest:path}", _page, methods=["GET", "POST"]), WebSocketRoute("/_stcore/stream", _stream)]
    guard = Middleware(security.Guard, hosts=settings.HOSTS, hashes=("'sha256-abc'",))
    with TestClient(Starlette(routes=routes[::-1], middleware=[guard]), base_url=BASE) as found:
        yield found


def test_own_page_is_served_with_all_headers(client: TestClient) -> None:
    """A request to our own address gets the page, the policy and the fixed headers, each once."""
    reply = client.get("/")
    assert reply.status_code == 200
    policy = reply.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "connect-src 'self' ws://127.0.0.1:8501" in policy
    assert "script-src 'self' 'sha256-abc';" in policy
    assert "unsafe-eval" not in policy
    assert reply.headers.get_list("x-frame-options") == ["DENY"]
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8501", "127.0.0.1.evil.example", "127.0.0.1:8501@evil.example", "", "a b"]
)
def test_foreign_host_is_refused(client: TestClient, host: str) -> None:
    """A name that was rebound to this machine gets nothing."""
    reply = client.get("/", headers={"host": host})
    assert reply.status_code == 403
    assert "page" not in reply.text
    assert "content-security-policy" in reply.headers


@pytest.mark.parametrize("host", ["localhost:8501", "LOCALHOST:8501", "127.0.0.1"])
def test_own_names_are_served(client: TestClient, host: str) -> None:
    """Both loopback names work, whatever their case."""
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:9999", "http://127.0.0.1:8501.evil.example", "http://[", ""],
)
def test_foreign_origin_is_refused(client: TestClient, origin: str) -> None:
    """A page of another origin cannot read or post, not even one of another port of this machine."""
    assert client.get("/", headers={"origin": origin}).status_code == 403
    assert client.post("/", headers={"origin": origin}).status_code == 403


def test_changing_request_needs_an_origin(client: TestClient) -> None:
    """A post without an origin is refused, with our own it passes."""
    assert client.post("/").status_code == 403
    assert client.post("/", headers={"origin": BASE}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"host": "evil.example", "origin": "http://evil.example"},
        {"host": "evil.example:8501", "origin": BASE},
    ],
)
def test_foreign_stream_is_refused(client: TestClient, headers: dict[str, str]) -> None:
    """A WebSocket of a foreign host or origin, or of none, is closed before it opens."""
    with pytest.raises(WebSocketDisconnect) as refusal, client.websocket_connect("/_stcore/stream", headers=headers):
        pass
    assert refusal.value.code == 1008


def test_own_stream_opens(client: TestClient) -> None:
    """Our own page's WebSocket opens."""
    with client.websocket_connect("/_stcore/stream", headers={"origin": BASE, "host": "127.0.0.1:8501"}) as stream:
        assert stream.receive_text() == "open"


@pytest.mark.parametrize("path", security.CLOSED_PATHS)
def test_unused_paths_are_closed(client: TestClient, path: str) -> None:
    """Paths that the framework serves without a check of its own are refused."""
    assert client.get(path).status_code == 403


def test_two_hosts_are_no_host(client: TestClient) -> None:
    """A request that names two hosts is refused, since two readers could pick different ones."""
    reply = client.get("/", headers=[("host", "127.0.0.1:8501"), ("host", "evil.example")])
    assert reply.status_code == 403


def test_policy_holds_the_hash_of_each_inline_script() -> None:
    """Inline scripts of the framework's page are allowed by hash, scripts with an address are not hashed."""
    index = '<script>\n a = 1\n</script><script type="module" src="./x.js"></script><SCRIPT>b</SCRIPT>'
    assert len(security.script_hashes(index)) == 2
    assert security.script_hashes("<p>none</p>") == ()


def test_framework_page_has_an_inline_script() -> None:
    """The installed framework still has the inline script that the policy must name."""
    import streamlit  # noqa: PLC0415 - only to find its page

    index = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    hashes = security.script_hashes(index)
    assert hashes
    assert all(re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", found) for found in hashes)


def test_settings_are_known_to_the_framework() -> None:
    """Every option we set exists, and the ones that matter have the closed value."""
    from streamlit import config  # noqa: PLC0415 - the framework's own table of options

    chosen = settings.options(8501)
    unknown = [name for name in chosen if name not in config._config_options_template]
    assert unknown == []
    assert chosen["browser.gatherUsageStats"] is False
    assert chosen["server.enableAgentApi"] is False
    assert chosen["server.address"] == "127.0.0.1"
    assert chosen["server.maxUploadSize"] == 64
    assert chosen["client.showErrorDetails"] == "none"
    assert chosen["client.showErrorLinks"] is False
    assert isinstance(chosen["server.allowedHosts"], list)
    with contextlib.suppress(KeyError):
        assert "*" not in chosen["server.corsAllowedOrigins"]
