"""That the provenance document of an entry is about that entry: verification's own look at it, a tenth of the time of
`ledger.provenance.check`, which replay runs over every document."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from ledger.canonical import canonical_object
from ledger.entry.leaf import strict_object
from ledger.erasure.redaction import invalidation_document, parse_detail
from ledger.errors import MalformedLeaf, MalformedProv, VerificationFailed
from ledger.keys import pseudonym
from ledger.model import Kind, Leaf
from ledger.provenance.check import RUN, check_prov
from ledger.provenance.document import CONTENT_DOMAIN, content_of

PROV = "prov"
READ = frozenset({PROV, "answer", "detail"})
"""The parts that it needs."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def check_entry_prov(leaf: Leaf, parts: Mapping[str, bytes], pseudonym_key: bytes) -> None:
    """Raise VerificationFailed with the step `prov` unless the document, if there is one, is canonical, names the entry
    as its run, and the answer by the commitment of its digest, or in earlier versions by that digest; that of a
    redaction is made again from its detail."""
    data = parts.get(PROV)
    if not data:
        return
    try:
        if leaf.kind is Kind.REDACTION:
            _check_redaction(leaf, data, parts.get("detail", b""))
        else:
            _check_run(leaf, canonical_object(data) or check_prov(data), parts.get("answer"), pseudonym_key)
    except (MalformedProv, MalformedLeaf, KeyError, TypeError, ValueError) as exc:
        raise VerificationFailed(PROV, f"the provenance does not hold: {exc}") from exc


def _check_run(leaf: Leaf, body: Mapping[str, Any], answer: bytes | None, pseudonym_key: bytes) -> None:
    if body["prefix"]["run"] != RUN.format(run_id=leaf.entry_id):
        raise MalformedProv("it is of another run")
    [told] = [entity for name, entity in body["entity"].items() if name == "run:answer"]
    if not answer:
        return
    digest = "sha256:" + hashlib.sha256(answer).hexdigest()
    commitment = pseudonym(pseudonym_key, CONTENT_DOMAIN, content_of(leaf.entry_id, digest))
    if told.get("exhibit:sha256") not in (None, digest) or told.get("exhibit:commitment") not in (None, commitment):
        raise MalformedProv("its answer is not that of the entry")


def _check_redaction(leaf: Leaf, data: bytes, detail: bytes) -> None:
    told = strict_object(data)["activity"]["run:activity/redaction"]["prov:startTime"]
    at_ms = (datetime.fromisoformat(told) - _EPOCH) // timedelta(milliseconds=1)
    if detail and invalidation_document(parse_detail(detail), run_id=leaf.entry_id, at_ms=at_ms) != data:
        raise MalformedProv("it does not say what the detail says")
