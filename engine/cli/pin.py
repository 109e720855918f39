"""How is a cut-off end made visible later?

Writes down the head of a verified ledger: after so many rows, the chain value was this. Keep the pin where the writer
of the ledger cannot change it; beside the ledger it proves little.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from engine.cli.output import emit_json, safe, say
from engine.cli.verify import Json
from engine.errors import EXIT_HOLDS, RefusedError, UsageError
from engine.ledger.pins import make_pin, pin_text
from engine.ledger.verify import verify_chain
from engine.ledger.witness_write import keeper_time, record_pin
from engine.lines.source import FileSource
from engine.load import InputKind, load_input
from engine.storage.files import atomic_write


def pin(
    ledger: Annotated[Path, typer.Argument(help="Ledger file.")],
    *,
    out: Annotated[Path | None, typer.Option(help="File for the pin; printed only otherwise.")] = None,
    store: Annotated[Path | None, typer.Option(help="Witness store to add the pin to.")] = None,
    namespace: Annotated[str, typer.Option(help="Name of the ledger in the store.")] = "",
    as_json: Json = False,
) -> None:
    """Verify a ledger and write down its head, to show a later cut or rewrite."""
    if store is not None and not namespace:
        raise UsageError("pin_without_name", "expected --namespace with --store", hint="name the ledger in the store")
    made = make_pin(verify_chain(FileSource(ledger)), namespace=namespace)
    text = pin_text(made)
    if out is not None:
        _refuse_other_file(out)
        atomic_write(out, text.encode() + b"\n")
    stored = record_pin(store, made, received_at=keeper_time()) if store is not None else None
    if as_json:
        body = {"ledger": str(ledger), "namespace": namespace, "rows": made.rows, "chain": made.chain}
        emit_json("pin", {**body, "as_of": made.made_at, "text": text, "stored": stored})
    else:
        say(text)
        for place in (out, store):
            if place is not None:
                say(f"  written to {safe(place, 400)}")
        say("  does not prove: anything about rows written after it, nor if the ledger's writer can change the pin")
    raise typer.Exit(EXIT_HOLDS)


def _refuse_other_file(out: Path) -> None:
    """Replace an older pin only: the ledger itself, or any other file, given as --out by mistake would be lost."""
    if out.is_file() and out.stat().st_size and load_input(FileSource(out)).kind is not InputKind.PINS:
        raise RefusedError(
            "out_is_no_pin",
            "expected a new file or an older pin, found a file of another kind; nothing was written",
            where=str(out),
            hint="give --out another name",
        )
