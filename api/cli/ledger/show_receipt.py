"""`exhibit ledger show --receipt`: what a receipt proves, in words and as JSON, without a home."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.cli.console import emit
from api.cli.ledger.common import read_signed, utc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.proofs.receipt import VerifiedReceipt

_MOST = 400


def show_receipt(file: Path, vkeys: Sequence[str], *, as_json: bool) -> None:
    """Verify the receipt, then print what follows from it, and what does not. Raises VerificationFailed,
    MalformedNote."""
    from ledger.proofs.receipt import verify_with_any

    verified = verify_with_any(read_signed(file), vkeys=vkeys)
    proves, limits = _proves(verified), _limits(verified)
    disclosed = {name: _value(data) for name, data in _disclosed(verified).items()}
    document = {
        "verdict": "intact",
        "origin": verified.origin,
        "index": verified.index,
        "size": verified.size,
        "root": verified.root,
        "leaf_hash": verified.leaf_hash,
        "entry_id": verified.leaf.entry_id,
        "kind": str(verified.leaf.kind),
        "t_ms": verified.leaf.t_ms,
        "proves": proves,
        "limits": limits,
        "disclosed": disclosed,
    }
    emit(document, as_json=as_json, render=lambda: "\n".join([*proves, *limits, "", *_texts(verified)]))


def _proves(verified: VerifiedReceipt) -> list[str]:
    leaf = verified.leaf
    said = [
        f"The log {verified.origin} holds the {leaf.kind} {leaf.entry_id}: {verified.index + 1} of {verified.size}.",
        f"Its leaf hash is {verified.leaf_hash}; the log's key signed the tree that holds it.",
        f"The log says that replica {leaf.replica} wrote it at {utc(leaf.t_ms)}, as its number {leaf.rseq}.",
    ]
    said += [f"It was written after the {ref.rel} {ref.id}." for ref in leaf.refs]
    said += [f"The part {name} is, byte for byte, what was committed to then." for name in _disclosed(verified)]
    return said


def _limits(verified: VerifiedReceipt) -> list[str]:
    hidden = sorted(set(verified.leaf.parts) - set(verified.parts))
    said = [f"Not disclosed: {', '.join(hidden)}."] if hidden else []
    if not verified.witnessed:
        said.append("No witness was asked: the operator alone vouches for the tree, and for the time.")
    return [*said, "It does not prove that what the parts say is true."]


def _disclosed(verified: VerifiedReceipt) -> dict[str, bytes]:
    from ledger.entry.parts import source_name

    sources = {source_name(number): data for number, data in sorted(verified.sources.items())}
    return {name: data for name, data in sorted(verified.parts.items()) if data} | sources


def _value(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode("utf-8", "replace")


def _texts(verified: VerifiedReceipt) -> list[str]:
    texts = {name: data.decode("utf-8", "replace") for name, data in _disclosed(verified).items()}
    return [f"{name}: {text if len(text) <= _MOST else text[:_MOST] + ' ...'}" for name, text in texts.items()]
