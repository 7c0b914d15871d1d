"""The key of a witness, in a file of its folder."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from ledger.errors import KeyUnusable, MalformedNote
from ledger.keys import SECRET_BYTES, make_private, read_private, write_private
from ledger.notes.cosignature import witness_signing_key
from ledger.notes.note import COSIGNATURE, SigningKey, parse_signing_key

WITNESS_KEY = "witness.key"


async def create_witness_key(folder: Path, name: str, *, entropy: Callable[[int], bytes] = os.urandom) -> SigningKey:
    """The key in `folder`, made under that name if it is not there. Raises MalformedNote for a name that no key can
    have, KeyUnusable for a folder that holds the key of another name or that others can reach."""
    made = witness_signing_key(name, entropy(SECRET_BYTES))
    await asyncio.to_thread(_create, folder, made)
    key = await open_witness_key(folder)
    if key.name != name:
        raise KeyUnusable(f"{folder} holds the key of {key.name}")
    return key


async def open_witness_key(folder: Path) -> SigningKey:
    """The key in `folder`. Raises KeyUnusable."""
    path = folder / WITNESS_KEY
    try:
        return parse_signing_key((await asyncio.to_thread(read_private, path)).strip(), type=COSIGNATURE)
    except MalformedNote as exc:
        raise KeyUnusable(f"{path} is not a witness's key: {exc}") from exc


def _create(folder: Path, key: SigningKey) -> None:
    make_private(folder)
    if not (folder / WITNESS_KEY).exists():
        write_private(folder / WITNESS_KEY, key.encode() + "\n")
