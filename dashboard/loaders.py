"""Which results are kept between two draws of a page?

The only caches. They hold one table of jobs for the process; every answer is kept in it under a key that names all it
depends on, in full: the SHA-256 of the bytes, the engine version, the parameters. Frames are never keys and never
kept, since the framework samples large ones. A kept answer is about the bytes it was computed from, not about what
stands on disk now.
"""

from __future__ import annotations

import logging

import streamlit as st

from dashboard.jobs import Failure, JobTable

LOG = logging.getLogger("winnow")


@st.cache_resource(max_entries=1, show_spinner=False)
def jobs() -> JobTable:
    """Return the job table of this process."""
    table = JobTable()
    table.on_failure = _log
    return table


def _log(failure: Failure, error: BaseException) -> None:
    LOG.error("error %s in a job", failure.error_id, exc_info=error)
