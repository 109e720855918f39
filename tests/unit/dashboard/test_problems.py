"""Problems stand worst first, lead to the place, and name nothing that holds."""

from __future__ import annotations

from pathlib import Path

from dashboard import problems
from dashboard.links import Page
from dashboard.state import Opened, Parameter
from engine.findings import Result
from engine.review import review
from sample_ledgers.build import copy_to


def test_the_samples_list_exactly_what_is_wrong_with_them(tmp_path: Path) -> None:
    """One folder does not accuse another, and the broken, the lying and the cut ledgers come first."""
    folder = copy_to(tmp_path / "samples")
    found = problems.of(review([folder]), Opened(tmp_path, (folder,)))
    failing = sorted({p.place.partition("/")[0] for p in found if p.result is Result.FAILS})
    assert failing == [
        "duplicate_key_fails",
        "edited_row_fails",
        "forked_fails",
        "planted_lie_fails",
        "truncated_against_pin_fails",
        "v1_understated_fails",
    ]
    results = [p.result for p in found]
    assert results == sorted(results, key=[Result.FAILS, Result.COULD_NOT_LOOK, Result.BOUNDED].index)


def test_a_lie_leads_to_its_receipt(tmp_path: Path) -> None:
    """A receipt that disagrees with its content is one click away."""
    folder = copy_to(tmp_path / "samples") / "planted_lie_fails"
    (lie,) = problems.of(review([folder]), Opened(tmp_path, (folder,)))
    assert (lie.page, lie.query[Parameter.LINE]) == (Page.RECEIPT, 1)
