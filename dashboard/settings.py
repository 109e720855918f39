"""Which options does the screen run with?

One mapping for every way of starting: an installed command does not read a `config.toml` beside the page script, so
nothing may live there. It closes what is open by default (address, hosts, telemetry, error details, data export,
agent interface). It does not close what a reverse proxy in front may open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ADDRESS = "127.0.0.1"
HOSTS = ("127.0.0.1", "localhost")
PREFERRED_PORT = 8501
MAX_UPLOAD_MIB = 64
"""Uploads stay in memory for each session; anything larger is opened by its path."""

_LIGHT: Mapping[str, Any] = {
    "primaryColor": "#2F4B73",
    "backgroundColor": "#FFFFFF",
    "secondaryBackgroundColor": "#F4F6F8",
    "textColor": "#1C2430",
    "linkColor": "#1F4E8C",
    "borderColor": "#DDE2E8",
    "dataframeBorderColor": "#E4E8ED",
    "dataframeHeaderBackgroundColor": "#F4F6F8",
    "codeBackgroundColor": "#F4F6F8",
    "codeTextColor": "#1C2430",
}
_DARK: Mapping[str, Any] = {
    "primaryColor": "#4A73AF",
    "backgroundColor": "#14181E",
    "secondaryBackgroundColor": "#1D232B",
    "textColor": "#E6EAF0",
    "linkColor": "#9CC2F2",
    "borderColor": "#343C47",
    "dataframeBorderColor": "#2B323C",
    "dataframeHeaderBackgroundColor": "#1D232B",
    "codeBackgroundColor": "#1D232B",
    "codeTextColor": "#E6EAF0",
}
_THEME: Mapping[str, Any] = {
    "theme.font": "sans-serif",
    "theme.headingFont": "sans-serif",
    "theme.codeFont": "monospace",
    "theme.baseFontSize": 15,
    "theme.paddingTop": "3.5rem",
    "theme.baseRadius": "6px",
    "theme.headingFontSizes": ["1.75rem", "1.3rem", "1.1rem", "1rem", "0.95rem", "0.9rem"],
    "theme.headingFontWeights": [650, 600, 600, 600, 600, 600],
    "theme.codeFontSize": "0.85rem",
    "theme.metricValueFontSize": "1.5rem",
    "theme.showWidgetBorder": True,
    "theme.showSidebarBorder": True,
    "theme.linkUnderline": True,
}


def options(port: int) -> dict[str, Any]:
    """Return every option the server runs with."""
    chosen: dict[str, Any] = {
        "server.address": ADDRESS,
        "server.port": port,
        "server.headless": True,
        "server.allowedHosts": list(HOSTS),
        "server.enableXsrfProtection": True,
        "server.enableCORS": True,
        "server.enableStaticServing": False,
        "server.enableAgentApi": False,
        "server.maxUploadSize": MAX_UPLOAD_MIB,
        "server.fileWatcherType": "none",
        "server.showEmailPrompt": False,
        "browser.gatherUsageStats": False,
        "browser.serverAddress": ADDRESS,
        "client.showErrorDetails": "none",
        "client.showErrorLinks": False,
        "client.toolbarMode": "viewer",
        "client.disableDataExport": True,
        "runner.magicEnabled": False,
        "logger.hideWelcomeMessage": True,
        **_THEME,
    }
    for mode, colours in (("light", _LIGHT), ("dark", _DARK)):
        chosen.update({f"theme.{mode}.{name}": value for name, value in colours.items()})
    return chosen
