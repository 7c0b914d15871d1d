"""Helpers that the verbs of `exhibit ledger` share."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from api.cli.console import configuration, note
from api.problems import EXIT_VERIFICATION

if TYPE_CHECKING:
    from ledger.ledger import Ledger
    from ledger.notes.trust import TrustPolicy

EntryId = Annotated[str, typer.Argument(help="Id of the entry.")]
CheckedKeys = Annotated[
    list[str] | None, typer.Option("--vkey", help="With --check: the log's verifier key, from elsewhere.")
]
Shard = Annotated[int | None, typer.Option("--shard", min=1, help="An earlier log of this home; default: the last.")]
PolicyFile = Annotated[
    Path | None, typer.Option("--policy", help="Trust policy (C2SP tlog-policy): check cosignatures against it.")
]


def with_ledger(home: Path | None, work: Callable[[Ledger], Awaitable[Any]], *, shard: int | None = None) -> Any:
    """Open the home's log, work, close it."""

    async def run() -> Any:
        from api.wiring import open_ledger

        async with open_ledger(configuration(home), shard=shard) as ledger:
            return await work(ledger)

    return asyncio.run(run())


def trust_policy(path: Path | None) -> TrustPolicy | None:
    """The policy in that file. Raises RequestRejected, MalformedPolicy."""
    from ledger.notes.trust import parse_policy

    return None if path is None else parse_policy(read_bytes(path))


def write_file(path: Path, data: bytes, *, parents: bool = False) -> None:
    """Write a file as `write_files` does."""
    write_files({path: data}, parents=parents)


def write_files(files: Mapping[Path, bytes], *, parents: bool = False) -> None:
    """Write all files or none: each lies beside its place before the first one takes it. With `parents` their folders
    are made where they are not there. Raises RequestRejected."""
    from api.errors import RequestRejected

    ready: dict[Path, Path] = {}
    path = Path()
    try:
        for path, data in files.items():
            if parents:
                path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_file() or path.is_dir():
                path.open("ab").close()  # what may not be written is not replaced either
            if path.is_file() or not os.path.lexists(path):
                ready[path] = path.resolve().with_name(f".{uuid4().hex}")
                ready[path].write_bytes(data)
        for path, data in files.items():
            if path in ready:
                ready.pop(path).replace(path.resolve())
            else:  # a pipe or a device
                path.write_bytes(data)
    except OSError as exc:
        raise RequestRejected(f"{path} cannot be written: {exc.strerror}") from None
    finally:
        for scratch in ready.values():
            with suppress(OSError):
                scratch.unlink()


def read_text(path: Path) -> str:
    """A file's text. Raises RequestRejected."""
    from api.errors import RequestRejected

    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        raise RequestRejected(f"{path} cannot be read: not UTF-8") from None


def read_signed(path: Path) -> str:
    """The text of a file that is to be verified. Raises RequestRejected where there is none, MalformedNote for bytes
    that are not UTF-8: a receipt or checkpoint that was changed."""
    from ledger.errors import MalformedNote

    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        raise MalformedNote(f"{path} is not UTF-8") from None


def read_bytes(path: Path) -> bytes:
    """A file's bytes. Raises RequestRejected."""
    from api.errors import RequestRejected

    try:
        return path.read_bytes()
    except OSError as exc:
        raise RequestRejected(f"{path} cannot be read: {exc.strerror}") from None


def files_in(folder: Path) -> Callable[[str], bytes | None]:
    """The files of an exported log by their paths; None for one that is not there. Raises RequestRejected for what is
    no folder."""
    from api.errors import RequestRejected

    if not folder.is_dir():
        raise RequestRejected(f"{folder} is not a folder")

    def read(path: str) -> bytes | None:
        file = folder / path
        return file.read_bytes() if file.is_file() else None

    return read


def utc(t_ms: int) -> str:
    """A time in UTC to the millisecond."""
    return datetime.fromtimestamp(t_ms / 1000, UTC).isoformat(timespec="milliseconds")


def tell_damaged(entries: Sequence[tuple[str, str]]) -> None:
    """Names the entries that were changed; ends the command with the exit code of what does not verify, if any was."""
    for entry_id, detail in entries:
        note(f"damaged: {entry_id}: {detail}")
    if entries:
        raise typer.Exit(EXIT_VERIFICATION)
