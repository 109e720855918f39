"""Where do plans lie, and is the file still the plan that was made?

A plan is a file beside the store, named by its digest, with its actions in a second file that the body binds. Saving is
the caller's act; reading recomputes both digests, so a plan edited by one byte is refused. A plan on disk is a
proposal: nothing here says that anybody agreed.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from engine.errors import CannotLookError, RefusedError
from engine.husk.plan import Action, Batch, HuskPlan
from engine.lines.strict import parse_exact
from engine.storage.files import atomic_write

FOLDER = "plans"
MAX_BODY_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """A plan as read back and checked against its digest; actions are read from the sidecar when asked for."""

    plan: HuskPlan
    folder: Path = field(repr=False)

    @property
    def id(self) -> str:
        """Return the name of the plan."""
        return self.plan.id

    def actions(self) -> Iterator[Action]:
        """Yield every action; raises `RefusedError` when the sidecar is not the one that the body binds."""
        digest, count = hashlib.sha256(), 0
        try:
            with sidecar_path(self.folder, self.id).open("rb") as lines:
                for line in lines:
                    digest.update(line)
                    count += 1
                    yield Action.from_json(parse_exact(line.decode("utf-8")).value)
        except (OSError, UnicodeDecodeError, ValueError, TypeError) as error:
            raise _edited(self.id, f"the actions cannot be read: {error}") from error
        bound = self.plan.body["actions"]
        if (digest.hexdigest(), count) != (bound["sha256"], bound["count"]):
            raise _edited(self.id, "the actions are not the ones that were planned")


def body_path(folder: Path, plan_id: str) -> Path:
    """Return where the body of a plan lies."""
    return folder / FOLDER / f"{plan_id}.json"


def sidecar_path(folder: Path, plan_id: str) -> Path:
    """Return where the actions of a plan lie."""
    return folder / FOLDER / f"{plan_id}.actions.jsonl"


@contextmanager
def drafting(folder: Path) -> Iterator[Draft]:
    """Give a place for the sidecar of a plan that is being made; what is not saved is removed."""
    place = folder / FOLDER
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = place / f".draft-{secrets.token_hex(8)}"
    with path.open("xb") as stream:
        try:
            yield Draft(folder, path, stream)
        finally:
            path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Draft:
    """The sidecar of a plan in the making."""

    folder: Path
    path: Path
    stream: BinaryIO = field(repr=False)

    def sink(self, line: bytes) -> None:
        """Take one line."""
        self.stream.write(line)

    def save(self, plan: HuskPlan) -> SavedPlan:
        """Put the plan beside the store: first its actions, then its body; saving the same plan again is no change."""
        self.stream.flush()
        os.fsync(self.stream.fileno())
        target = sidecar_path(self.folder, plan.id)
        if not target.exists():
            os.link(self.path, target)
        atomic_write(body_path(self.folder, plan.id), plan.data())
        return load_plan(self.folder, plan.id)


def list_plans(folder: Path) -> tuple[str, ...]:
    """Return the names of the plans beside a store, in a fixed order."""
    return tuple(sorted(path.stem for path in (folder / FOLDER).glob("plan_*.json")))


def load_plan(folder: Path, plan_id: str) -> SavedPlan:
    """Read a plan; raises `CannotLookError` when there is none, `RefusedError` when it is not the plan of its name."""
    path = body_path(folder, plan_id)
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise CannotLookError("NO_PLAN", f"there is no plan {plan_id[:60]}", hint="list the plans") from error
    except OSError as error:
        raise CannotLookError("PLAN_UNREADABLE", error.strerror or str(error), where=str(path)) from error
    return SavedPlan(read_plan(data, plan_id), folder)


def read_plan(data: bytes, plan_id: str) -> HuskPlan:
    """Read the body of a plan and hold it against its name; raises `RefusedError`."""
    if len(data) > MAX_BODY_BYTES:
        raise _edited(plan_id, "the body is longer than a plan can be")
    try:
        parsed = parse_exact(data.decode("utf-8"))
        if parsed.problem is not None or parsed.duplicates or not isinstance(parsed.value, dict):
            raise _edited(plan_id, "the body is no plan")
        body: Mapping[str, Any] = parsed.value
        batches = tuple(Batch(**batch) for batch in body["batches"])
        made = HuskPlan(body, batches)
        same = made.id == plan_id and made.data() == data
    except (UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        raise _edited(plan_id, "the body is no plan") from error
    if not same:
        raise _edited(plan_id, "the body has another digest than its name says")
    return made


def _edited(plan_id: str, why: str) -> RefusedError:
    return RefusedError("PLAN_EDITED", why, where=plan_id[:60], hint="make the plan again")
