"""Which command answers which question?

One command a module. Exit codes: 0 everything holds in full scope, 1 something fails, 2 wrong use, 3 could not look or
bounded. No traceback reaches the user: a refusal is one line with a hint, an internal mistake one line with an id
(its traceback is printed when WINNOW_DEBUG is set). An exit code of 0 vouches for the scope printed, no further.
"""

from __future__ import annotations

import os
import sys
import traceback
import uuid
from io import TextIOWrapper
from typing import Any

import typer
from typer.exceptions import Abort, TyperException

from engine import __version__
from engine.cli.check import check
from engine.cli.demo import demo
from engine.cli.husk import husk
from engine.cli.keys import keys
from engine.cli.opening import open_paths
from engine.cli.output import AnswerLostError, emit_json, finish, safe
from engine.cli.pin import pin
from engine.cli.retention import retention
from engine.cli.rounds import rounds
from engine.cli.seal import seal
from engine.cli.selftest import selftest
from engine.cli.spans import spans
from engine.cli.verify import verify
from engine.errors import EXIT_USAGE, WinnowError

EXIT_INTERNAL = 70
"""An internal mistake (sysexits EX_SOFTWARE): never one of the four answers."""

app = typer.Typer(
    name="winnow",
    help="See and prove what a context compaction threw away.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (demo, verify, check, rounds, retention, seal, pin, selftest):
    app.command()(command)
app.command("open")(open_paths)
app.add_typer(keys, name="keys")
app.add_typer(spans, name="spans")
app.add_typer(husk, name="husk")


def _version(*, value: bool) -> None:
    if value:
        typer.echo(f"winnow {__version__}")
        raise typer.Exit


@app.callback()
def winnow(
    version: bool = typer.Option(default=False, callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """See and prove what a context compaction threw away."""


def run() -> None:
    """Run the command line; always ends in `SystemExit`."""
    _take_any_text()
    try:
        code = app(standalone_mode=False)
        finish()
    except AnswerLostError as error:
        _refuse(str(error), error.hint)
        _silence_stdout()
        code = error.exit_code
    except WinnowError as error:
        if "--json" in sys.argv:
            emit_json("error", error_json(error))
        _refuse(str(error), error.hint)
        code = error.exit_code
    except Abort:
        _refuse("interrupted", "nothing was changed")
        code = EXIT_USAGE
    except TyperException as error:
        _refuse(_usage_message(error), "winnow --help lists the commands")
        code = EXIT_USAGE
    except Exception as error:  # noqa: BLE001 - the edge of the program
        _internal(error)
        code = EXIT_INTERNAL
    raise SystemExit(code if isinstance(code, int) else 0)


def _take_any_text() -> None:
    """Write what the terminal's character set lacks as an escape: an answer must not fail on its own glyph."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _silence_stdout() -> None:
    """Let the end of the program not try again to write what cannot be written."""
    if isinstance(sys.stdout, TextIOWrapper):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def error_json(error: WinnowError) -> dict[str, Any]:
    """Return the machine form of a refusal."""
    return {
        "code": error.code,
        "message": error.message,
        "where": error.where,
        "hint": error.hint,
        "exit_code": error.exit_code,
    }


def _usage_message(error: TyperException) -> str:
    describe = getattr(error, "format_message", None)
    return str(describe() if describe else error)


def _refuse(message: str, hint: str) -> None:
    sys.stderr.write(f"error: {safe(message, 2000)}\n" + (f"hint: {safe(hint, 2000)}\n" if hint else ""))


def _internal(error: Exception) -> None:
    if os.environ.get("WINNOW_DEBUG"):
        traceback.print_exception(error)
    sys.stderr.write(
        f"error: internal mistake {uuid.uuid4().hex[:8]} of kind {type(error).__name__}; this is a fault of Winnow\n"
        "hint: set WINNOW_DEBUG=1 and run again to see where\n"
    )
