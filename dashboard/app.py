"""The page script: configuration, style, navigation, and the view of the address.

Run by the server for every interaction; it holds no state and decides nothing.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard.links import Page
from dashboard.views import activity, find, ledger, ledgers, limits, overview, receipt, retention, spans, transcript
from dashboard.widgets import text

ASSETS = Path(__file__).parent / "assets"

# A local icon before the navigation: page icons would otherwise be fetched from a font host.
st.set_page_config(page_title="Winnow", page_icon=str(ASSETS / "icon.png"), layout="wide")
st.logo(str(ASSETS / "wordmark.png"), size="large", icon_image=str(ASSETS / "icon.png"))
text.style()

st.navigation(
    {
        "Audit": [
            st.Page(overview.show, title="Overview", icon=":material/space_dashboard:", default=True),
            st.Page(ledgers.show, title="Ledgers", icon=":material/list_alt:", url_path=Page.LEDGERS),
            st.Page(ledger.show, title="Ledger", url_path=Page.LEDGER, visibility="hidden"),
            st.Page(receipt.show, title="Receipt", url_path=Page.RECEIPT, visibility="hidden"),
            st.Page(find.show, title="Find", icon=":material/search:", url_path=Page.FIND),
        ],
        "Inspect": [
            st.Page(spans.show, title="Spans", icon=":material/push_pin:", url_path=Page.SPANS),
            st.Page(retention.show, title="Retention", icon=":material/show_chart:", url_path=Page.RETENTION),
            st.Page(transcript.show, title="Transcripts", icon=":material/forum:", url_path=Page.TRANSCRIPT),
        ],
        "Record": [
            st.Page(activity.show, title="Activity", icon=":material/history:", url_path=Page.ACTIVITY),
            st.Page(limits.show, title="Limits", icon=":material/rule:", url_path=Page.LIMITS),
        ],
    }
).run()
