"""Which requests are let in, and what may a page do?

A pure ASGI middleware around everything the process serves, the WebSocket included. It refuses foreign hosts (DNS
rebinding) and foreign or missing origins of WebSockets and of changing requests, and sends a content policy under
which a page can load nothing from elsewhere. It is no sign-in: whoever runs programs on this machine gets in.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

CLOSED_PATHS = ("/_stcore/metrics", "/_stcore/agent", "/_stcore/script-health-check")
"""Served by the framework without any check of its own; nothing here needs them."""

_AUTHORITY = re.compile(r"(?P<host>\[[0-9a-f:]+\]|[a-z0-9.-]+)(?::(?P<port>\d{1,5}))?", re.ASCII)
_INLINE_SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<body>.*?)</script>", re.DOTALL | re.IGNORECASE)
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def script_hashes(index_html: str) -> tuple[str, ...]:
    """Return the policy hashes of the page's own inline scripts, so that no other inline script may run."""
    bodies = [m["body"] for m in _INLINE_SCRIPT.finditer(index_html) if "src=" not in m["attributes"]]
    digests = (hashlib.sha256(body.encode()).digest() for body in bodies)
    return tuple(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def content_policy(authority: str, hashes: Iterable[str]) -> str:
    """Write the content security policy for a checked authority (`host:port`)."""
    rules = {
        "default-src": "'self'",
        "script-src": " ".join(("'self'", *hashes)),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": f"'self' ws://{authority} wss://{authority}",
        "worker-src": "'self' blob:",
        "frame-src": "'self' blob:",
        "frame-ancestors": "'none'",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


_FIXED_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
)


class Guard:
    """ASGI middleware: check host and origin, close unused paths, add the headers."""

    def __init__(self, app: ASGIApp, *, hosts: Sequence[str], hashes: Sequence[str] = ()) -> None:
        self._app = app
        self._hosts = frozenset(hosts)
        self._hashes = tuple(hashes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through or refuse it."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(scope, receive, send, refusal)
            return
        policy = content_policy(_single(scope, b"host") or "", self._hashes)
        await self._app(scope, receive, _with_headers(send, policy))

    def _refusal(self, scope: Scope) -> str | None:
        authority = _single(scope, b"host")
        match = _AUTHORITY.fullmatch(authority) if authority is not None else None
        if match is None or match["host"] not in self._hosts:
            return "this host name is not served here"
        if scope["path"].startswith(CLOSED_PATHS):
            return "this path is closed"
        origins = _all(scope, b"origin")
        if not origins:
            # Browsers always name the origin of a WebSocket and of a changing request.
            changing = scope["type"] == "websocket" or scope["method"] not in _SAFE_METHODS
            return "the origin of this request is missing" if changing else None
        if len(origins) > 1 or not _same_authority(origins[0], authority or ""):
            return "this origin is not served here"
        return None


def _all(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1").strip().lower() for key, value in scope["headers"] if key == name]


def _single(scope: Scope, name: bytes) -> str | None:
    found = _all(scope, name)
    return found[0] if len(found) == 1 else None


def _same_authority(origin: str, authority: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and parts.netloc == authority and not (parts.path or parts.query)


def _with_headers(send: Send, policy: str) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] in {"http.response.start", "websocket.http.response.start"}:
            own = (*_FIXED_HEADERS, (b"content-security-policy", policy.encode()))
            names = {name for name, _ in own}
            kept = [(k, v) for k, v in message.get("headers", []) if k.lower() not in names]
            message = {**message, "headers": [*kept, *own]}
        await send(message)

    return sending


async def _refuse(scope: Scope, receive: Receive, send: Send, reason: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": reason})
        return
    body = f"refused: {reason}\n".encode()
    headers = [
        *_FIXED_HEADERS,
        (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": body})
