"""The command `exhibit`: finds the command, runs it, and turns every error into one line and an exit code.

Commands are imported when they are used, so that `exhibit --help` and `exhibit ask` start fast.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from api.home.version import VERSION

COMMANDS = {
    "demo": "ingest the sample corpus, ask, show cited answers, verify the receipts",
    "ask": "ask a question",
    "ingest": "ingest documents",
    "job": "list ingest jobs; run, end or repeat them",
    "serve": "serve the HTTP API",
    "export": "write a layer as one file of vector tiles",
    "index": "compare, rebuild and repair the indexes; withdraw sources",
    "source": "list, label, withdraw, restore, supersede and erase sources",
    "asset": "list assets, entities and relationships",
    "ledger": "read and verify the ledger",
    "replay": "recompute recorded answers and grade them",
    "policy": "write, test, publish and roll back the policy bundle",
    "key": "make, list and revoke API keys",
    "tenant": "make, suspend, limit, export and erase tenants",
    "home": "encrypt the home folder, and rotate its key",
    "doctor": "find what is wrong and name the next command",
    "config": "show the settings and where they come from",
    "bench": "measure the pipeline",
    "eval": "measure quality on public data sets",
}
_ORDER = tuple(COMMANDS)
_OF_THE_CORPUS = {"asset", "index", "ingest", "job", "source"}
"""Commands whose modules are in `api.cli.corpus`."""
_NOT_A_PATH = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG, errno.EACCES}
)
"""Errors that a path by itself may cause, and no disk, process or fault of ours."""


class LazyGroup(TyperGroup):
    """Imports the module of a command when that command is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """In the order of use."""
        del ctx
        return list(_ORDER)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, or None."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        room = "api.cli.corpus" if cmd_name in _OF_THE_CORPUS else "api.cli"
        command = get_command(import_module(f"{room}.{cmd_name}").app)
        command.name = cmd_name
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments begin with; an unknown one is refused with those that look like it."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            alike = ", ".join(repr(name) for name in get_close_matches(args[0], COMMANDS))
            ctx.fail(f"No such command {args[0]!r}. " + (f"Did you mean {alike}?" if alike else "See: exhibit --help"))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list of commands, without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


app = typer.Typer(
    cls=LazyGroup,
    help="Cited answers from governed evidence, each with a receipt.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


def _version(value: bool) -> None:
    if value:
        print(f"exhibit {VERSION}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Cited answers from governed evidence, each with a receipt."""
    del version


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point of the installed command."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. Never raises and never prints a traceback."""
    if not logging.getLogger().handlers:  # a command tells faults in its own words; what libraries say is for logs
        logging.getLogger().addHandler(logging.NullHandler())
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")  # none is used, and looking for them reads every package
    try:
        result = get_command(app)(args=list(arguments), prog_name="exhibit", standalone_mode=False)
        sys.stdout.flush()
    except typer.Abort:
        return _tell("CANCELLED", "stopped", 1, as_json="--json" in arguments)
    except KeyboardInterrupt:
        return _tell("CANCELLED", "stopped", 130, as_json="--json" in arguments)
    except BrokenPipeError:
        # Whoever read our output has enough; nothing more can be said there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as exc:
        return _fail(_told_of_path(exc, arguments), as_json="--json" in arguments)
    return result if isinstance(result, int) else 0


def _fail(exc: Exception, *, as_json: bool) -> int:
    if help_text := _help_of(exc):
        print(help_text, file=sys.stderr)
        return 2
    if hasattr(exc, "format_message") and hasattr(exc, "exit_code"):
        return _tell("BAD_REQUEST", " ".join(exc.format_message().split()), 2, as_json=as_json)
    from api.problems import is_known, problem_of

    problem = problem_of(exc)
    message = problem.local if is_known(exc) else f"{problem.local} [{_where(exc)}]"
    details = [{"field": d.field, "code": d.code, "message": d.message} for d in problem.details]
    return _tell(problem.code, message, problem.exit, as_json=as_json, details=details)


def _told_of_path(exc: Exception, arguments: Sequence[str]) -> Exception:
    """The error, or where the system says that a path of the command line, or one below it, cannot be used as such, one
    that says so: a path may be anything, and not every command asks first."""
    if not isinstance(exc, OSError) or exc.errno not in _NOT_A_PATH or not isinstance(exc.filename, str | Path):
        return exc
    given = (word.partition("=")[2] if word.startswith("--") else word for word in arguments)
    if not any(Path(exc.filename).is_relative_to(Path(word).expanduser()) for word in given if word):
        return exc
    from api.errors import RequestRejected

    return RequestRejected(f"{exc.filename} cannot be used: {exc.strerror}")


def _help_of(exc: Exception) -> str | None:
    """The help of a group of commands that was called without a command; None for any other error."""
    context, message = getattr(exc, "ctx", None), getattr(exc, "message", None)
    return str(message) if context is not None and message == context.get_help() else None


def _tell(code: str, message: str, exit_code: int, *, as_json: bool, details: Sequence[dict[str, str]] = ()) -> int:
    if as_json:
        error = {"code": code, "message": message} | ({"details": list(details)} if details else {})
        print(json.dumps({"error": error}, ensure_ascii=False))
    listed = "".join(f"; {d['field']}: {d['message']}" for d in details)
    print(f"exhibit: {code}: {message}{listed}", file=sys.stderr)
    return exit_code


def _where(exc: Exception) -> str:
    """The kind of a bug and the place of it, for a report, and what the system said; the error's own text may repeat
    what a user wrote."""
    trace = exc.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    at = "" if trace is None else f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"  # noqa: PTH119
    said = f": {exc.strerror}" if isinstance(exc, OSError) and exc.strerror else ""
    return f"{type(exc).__name__}{at}{said}"


if __name__ == "__main__":
    main()
