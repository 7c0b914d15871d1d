"""The bytes of a leaf, `exhibit.ledger/N`: RFC 8785 JSON, at most 4 KiB. These bytes never change once written, and
every version stays readable.

Nothing is re-serialised to verify: the stored bytes are hashed. Parsing is strict, so one meaning has one form of
bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from rfc8785 import CanonicalizationError

from ledger.canonical import canonical_json, is_canonical
from ledger.entry.leaf_form import HEX32, KNOWN, MAX_INTEGER, REL, TOKEN, UUID7, LeafForm, LeafForms, read_form
from ledger.errors import EntryRefused, MalformedLeaf
from ledger.merkle.tree import EMPTY_ROOT
from ledger.model import LEAF_MAX_BYTES, Leaf, Ref, TreeHead

_FIELDS = frozenset({"v", "kind", "id", "t", "tenant", "replica", "rseq", "req", "parts", "refs", "seen"})
_HEX32 = re.compile(HEX32)
_UUID7 = re.compile(UUID7)
_TOKEN = re.compile(TOKEN)
_REL = re.compile(REL)


def encode_leaf(leaf: Leaf, *, forms: LeafForms = KNOWN) -> bytes:
    """The canonical bytes of the leaf's version. Raises EntryRefused if a field breaks a rule or the leaf would exceed
    4 KiB."""
    body: dict[str, Any] = {
        "v": leaf.version,
        "kind": str(leaf.kind),
        "id": leaf.entry_id,
        "t": leaf.t_ms,
        "tenant": leaf.tenant,
        "replica": leaf.replica,
        "rseq": leaf.rseq,
        "req": leaf.request_id,
        "parts": dict(leaf.parts),
        "refs": [{"rel": ref.rel, "id": ref.id, "leaf": ref.leaf} for ref in leaf.refs],
        "seen": {"size": leaf.seen.size, "root": leaf.seen.root.hex()},
    }
    try:
        data = canonical_json(body)
        if read_form(data, forms) is None:
            _leaf_of(body, forms)
    except (MalformedLeaf, CanonicalizationError, UnicodeError) as exc:
        raise EntryRefused(f"not the content of a leaf: {exc}") from exc
    if len(data) > LEAF_MAX_BYTES:
        raise EntryRefused(f"a leaf of {len(data)} bytes exceeds {LEAF_MAX_BYTES}")
    return data


def parse_leaf(data: bytes, *, forms: LeafForms = KNOWN) -> Leaf:
    """The content of a leaf's bytes, of any version. Raises MalformedLeaf for anything that `encode_leaf` would not
    have written."""
    if len(data) > LEAF_MAX_BYTES:
        _refuse(f"{len(data)} bytes, over {LEAF_MAX_BYTES}")
    return read_form(data, forms) or _leaf_of_any(data, forms)


def _leaf_of_any(data: bytes, forms: LeafForms) -> Leaf:
    """The reason why `parse_leaf` refused bytes that are in none of the forms."""
    body = strict_object(data)
    leaf = _leaf_of(body, forms)
    if not is_canonical(body, data):
        _refuse("the bytes are not in canonical form")
    return leaf


def strict_object(data: bytes) -> dict[str, Any]:
    """A JSON object without duplicate keys, fractions or integers beyond 2^53-1. Raises MalformedLeaf."""
    try:
        body = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_int=_safe_integer,
            parse_float=_no_number,
            parse_constant=_no_number,
        )
    except (ValueError, RecursionError) as exc:
        raise MalformedLeaf(f"not the JSON of a leaf: {exc}") from exc
    if not isinstance(body, dict):
        _refuse("not a JSON object")
    return body


def is_hash(value: object) -> bool:
    """True if `value` is 32 bytes in lower-case hex."""
    return isinstance(value, str) and _HEX32.fullmatch(value) is not None


def is_entry_id(value: str) -> bool:
    """True if `value` can be the id of an entry: a UUID of version 7 in lower case."""
    return _UUID7.fullmatch(value) is not None


def is_token(value: str) -> bool:
    """True if `value` can be a request id, replica or tenant of a leaf."""
    return _TOKEN.fullmatch(value) is not None


def _leaf_of(body: Mapping[str, Any], forms: LeafForms) -> Leaf:
    if set(body) != _FIELDS:
        _refuse(f"fields {sorted(_FIELDS ^ set(body))} are missing or unknown")
    if not isinstance(body["v"], str) or body["v"] not in {version for version, _ in forms}:
        _refuse("v is not the version of a leaf")
    form = forms.get((body["v"], body["kind"])) if isinstance(body["kind"], str) else None
    if form is None:
        _refuse("kind is unknown")
    return Leaf(
        kind=form.kind,
        entry_id=_text(body, "id", _UUID7),
        t_ms=_integer(body, "t", 0),
        tenant=_text(body, "tenant", _TOKEN),
        replica=_text(body, "replica", _TOKEN),
        rseq=_integer(body, "rseq", 1),
        request_id=_text(body, "req", _TOKEN),
        parts=_parts(form, body["parts"]),
        refs=_refs(body["refs"]),
        seen=_seen(body["seen"]),
        version=form.version,
    )


def _parts(form: LeafForm, value: object) -> dict[str, str]:
    if not isinstance(value, dict) or set(value) != set(form.parts):
        _refuse(f"parts are not exactly those of {form.kind}")
    if not all(is_hash(item) for item in value.values()):
        _refuse("a commitment is not 32 bytes in lower-case hex")
    return {name: value[name] for name in form.parts}


def _refs(value: object) -> tuple[Ref, ...]:
    if not isinstance(value, list):
        _refuse("refs is not a list")
    refs = tuple(_ref(item) for item in value)
    if len({(ref.rel, ref.id) for ref in refs}) != len(refs):
        _refuse("refs names one entry twice under one relation")
    return refs


def _ref(value: object) -> Ref:
    if not isinstance(value, dict) or set(value) != {"rel", "id", "leaf"}:
        _refuse("a ref is not {rel, id, leaf}")
    if not is_hash(value["leaf"]):
        _refuse("a ref's leaf is not 32 bytes in lower-case hex")
    return Ref(rel=_text(value, "rel", _REL), id=_text(value, "id", _UUID7), leaf=value["leaf"])


def _seen(value: object) -> TreeHead:
    if not isinstance(value, dict) or set(value) != {"size", "root"} or not is_hash(value["root"]):
        _refuse("seen is not {size, root}")
    head = TreeHead(size=_integer(value, "size", 0), root=bytes.fromhex(value["root"]))
    if head.size == 0 and head.root != EMPTY_ROOT:
        _refuse("seen is of size 0 without the root of the empty tree")
    return head


def _text(body: Mapping[str, Any], name: str, pattern: re.Pattern[str]) -> str:
    value = body[name]
    if not isinstance(value, str) or not pattern.fullmatch(value):
        _refuse(f"{name} does not match {pattern.pattern}")
    return value


def _integer(body: Mapping[str, Any], name: str, least: int) -> int:
    value = body[name]
    if type(value) is not int or not least <= value <= MAX_INTEGER:
        _refuse(f"{name} is not an integer from {least} to 2^53-1")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    body = dict(pairs)
    if len(body) != len(pairs):
        raise ValueError("a key occurs twice")
    return body


def _safe_integer(text: str) -> int:
    value = int(text) if len(text) <= 17 else MAX_INTEGER + 1
    if abs(value) > MAX_INTEGER:
        raise ValueError("an integer exceeds 2^53-1")
    return value


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text[:20]} is not an integer")


def _refuse(reason: str) -> NoReturn:
    raise MalformedLeaf(reason)
