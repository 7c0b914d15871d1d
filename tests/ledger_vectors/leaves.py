"""Leaves of every kind, and bytes that are none. Bytes stand in base64."""

from __future__ import annotations

import base64
import dataclasses
import json
from typing import Any

import rfc8785

from ledger.entry.leaf import encode_leaf
from ledger.merkle.tree import EMPTY_ROOT
from ledger.model import PART_NAMES, Kind, Leaf, Ref, TreeHead
from tests.ledger_vectors import MALFORMED, vectors

ID = "018bcfe5-6800-7000-8000-000000000001"
REFERRED = "018bcfe5-6800-7000-8000-000000000002"


def leaves() -> dict[str, Any]:
    """A leaf with one ref, of each kind, and what is none."""
    positive = {str(kind): encode_leaf(leaf(kind)) for kind in Kind}
    return vectors("leaf", _encoded(positive), {MALFORMED: _encoded(_NEGATIVE)})


def _encoded(texts: dict[str, bytes]) -> dict[str, str]:
    return {name: base64.b64encode(data).decode() for name, data in texts.items()}


def leaf(kind: Kind = Kind.INTENT, **changes: Any) -> Leaf:
    """A leaf with one ref, and these fields in the place of its own."""
    made = Leaf(
        kind=kind,
        entry_id=ID,
        t_ms=1_700_000_000_000,
        tenant="0f" * 16,
        replica="local",
        rseq=1,
        request_id="req-1",
        parts=dict.fromkeys(PART_NAMES[kind], "ab" * 32),
        refs=(Ref("intent", REFERRED, "cd" * 32),),
        seen=TreeHead(0, EMPTY_ROOT),
    )
    return dataclasses.replace(made, **changes)


def _body(**changes: Any) -> bytes:
    """The JSON of an intent with top-level fields replaced; None removes one."""
    content = json.loads(encode_leaf(leaf())) | changes
    return rfc8785.dumps({key: value for key, value in content.items() if value is not None})


_NEGATIVE = {
    "empty": b"",
    "no object": b"[]",
    "number": b"1",
    "not UTF-8": b'{"v":"\xff"}',
    "trailing bytes": _body() + b" ",
    "leading space": b" " + _body(),
    "trailing newline": _body() + b"\n",
    "byte order mark": b"\xef\xbb\xbf" + _body(),
    "keys in another order": json.dumps(dict(reversed(json.loads(_body()).items())), separators=(",", ":")).encode(),
    "spaces after separators": json.dumps(json.loads(_body()), sort_keys=True).encode(),
    "escaped letter": _body().replace(b'"req-1"', b'"\\u0072eq-1"'),
    "key twice": _body().replace(b'"rseq":1', b'"rseq":1,"rseq":1'),
    "missing field": _body(req=None),
    "unknown field": _body(extra="x"),
    "another version": _body(v="exhibit.ledger/2"),
    "unknown kind": _body(kind="answer"),
    "kind is no text": _body(kind=1),
    "id is no UUIDv7": _body(id="018bcfe5-6800-4000-8000-000000000001"),
    "id in capitals": _body(id=ID.upper()),
    "id with braces": _body(id="{" + ID + "}"),
    "wrong variant": _body(id="018bcfe5-6800-7000-0000-000000000001"),
    "negative time": _body(t=-1),
    "time as text": _body(t="1"),
    "time as boolean": _body(t=True),
    "time as float": _body().replace(b'"t":1700000000000', b'"t":1700000000000.5'),
    "time with exponent": _body().replace(b'"t":1700000000000', b'"t":17e11'),
    "time too large": _body().replace(b'"t":1700000000000', b'"t":9007199254740992'),
    "minus zero": _body().replace(b'"t":1700000000000', b'"t":-0'),
    "not a number": _body().replace(b'"t":1700000000000', b'"t":NaN'),
    "rseq zero": _body(rseq=0),
    "tenant with space": _body(tenant="a b"),
    "tenant empty": _body(tenant=""),
    "replica too long": _body(replica="a" * 129),
    "req with newline": _body(req="a\n"),
    "req not ASCII": _body(req="é"),
    "a part too few": _body(parts={"question": "ab" * 32}),
    "a part of another kind": _body(parts=dict.fromkeys((*PART_NAMES[Kind.INTENT], "answer"), "ab" * 32)),
    "parts is a list": _body(parts=[]),
    "commitment in capitals": _body(parts=dict.fromkeys(PART_NAMES[Kind.INTENT], "AB" * 32)),
    "commitment too short": _body(parts=dict.fromkeys(PART_NAMES[Kind.INTENT], "ab" * 31)),
    "commitment is no text": _body(parts=dict.fromkeys(PART_NAMES[Kind.INTENT], 1)),
    "refs is an object": _body(refs={}),
    "ref is no object": _body(refs=[1]),
    "ref with more": _body(refs=[{"rel": "a", "id": REFERRED, "leaf": "ab" * 32, "x": 1}]),
    "ref without leaf": _body(refs=[{"rel": "a", "id": REFERRED}]),
    "ref's relation in capitals": _body(refs=[{"rel": "A", "id": REFERRED, "leaf": "ab" * 32}]),
    "ref twice": _body(refs=[{"rel": "a", "id": REFERRED, "leaf": "ab" * 32}] * 2),
    "seen is a list": _body(seen=[]),
    "seen without root": _body(seen={"size": 0}),
    "seen of negative size": _body(seen={"size": -1, "root": "ab" * 32}),
    "seen with a short root": _body(seen={"size": 0, "root": "ab"}),
    "seen nothing with a root": _body(seen={"size": 0, "root": "ab" * 32}),
    "seen of a size too large": _body().replace(b'"size":0', b'"size":9007199254740992'),
    "seen with more": _body(seen={"size": 0, "root": EMPTY_ROOT.hex(), "x": 1}),
    "root in capitals": _body(seen={"size": 1, "root": "AB" * 32}),
    "size as text": _body(seen={"size": "1", "root": "ab" * 32}),
    "a number of ten thousand digits": _body().replace(b'"t":1700000000000', b'"t":' + b"9" * 3_000),
    "a commitment with a look-alike": _body(parts=dict.fromkeys(PART_NAMES[Kind.INTENT], "аb" * 32)),
    "a field's name with a combining mark": _body().replace(b'"req":', '"reqq̈":'.encode()),
    "full-width digits": _body().replace(b"1700000000000", "１７".encode()),
    "null": _body().replace(b'"tenant":"' + b"0f" * 16 + b'"', b'"tenant":null'),
    "deep nesting": b"[" * 4_000,
    "too long": _body(refs=[{"rel": f"r{i}", "id": REFERRED, "leaf": "ab" * 32} for i in range(40)]),
    "minus one for rseq": _body(rseq=-1),
    "rseq with a leading zero": _body().replace(b'"rseq":1', b'"rseq":01'),
    "rseq as boolean": _body(rseq=True),
    "rseq with a point": _body().replace(b'"rseq":1', b'"rseq":1.0'),
    "rseq in small exponents": _body().replace(b'"rseq":1', b'"rseq":1E0'),
    "rseq with a plus": _body().replace(b'"rseq":1', b'"rseq":+1'),
    "rseq in hex": _body().replace(b'"rseq":1', b'"rseq":0x1'),
    "a number beyond a float": _body().replace(b'"t":1700000000000', b'"t":1e400'),
    "a number too small for a float": _body().replace(b'"t":1700000000000', b'"t":1e-400'),
    "infinity": _body().replace(b'"t":1700000000000', b'"t":Infinity'),
    "a lone surrogate": _body().replace(b'"req-1"', b'"\\ud800"'),
    "a pair of surrogates": _body().replace(b'"req-1"', b'"\\ud83d\\ude00"'),
    "an escaped NUL": _body().replace(b'"req-1"', b'"req\\u0000"'),
    "a NUL": _body().replace(b'"req-1"', b'"req\0"'),
    "an escaped key": _body().replace(b'"req":', b'"\\u0072eq":'),
    "an escaped slash": _body().replace(b"exhibit.ledger/1", b"exhibit.ledger\\/1"),
    "an overlong encoding": _body().replace(b'"req-1"', b'"\xc1\xb2eq"'),
    "a surrogate in UTF-8": _body().replace(b'"req-1"', b'"\xed\xa0\x80"'),
    "UTF-16": _body().decode().encode("utf-16"),
    "a key twice among the parts": _body().replace(b'"parts":{', b'"parts":{"question":"' + b"ab" * 32 + b'",'),
    "a key twice in a ref": _body().replace(b'"rel":', b'"rel":"a","rel":'),
    "a key twice in seen": _body().replace(b'"size":0', b'"size":0,"size":0'),
    "a comma behind the last field": _body()[:-1] + b",}",
    "a comma behind the last ref": _body().replace(b"}],", b"},],"),
    "a comment": _body() + b"//",
    "single quotes": _body().replace(b'"', b"'"),
    "two leaves": _body() * 2,
    "cut off": _body()[:-1],
    "deep nesting inside": _body().replace(b'"refs":[', b'"refs":[' + b"[" * 1_500 + b"]" * 1_500 + b","),
    "objects nested": _body().replace(b'"seen":{', b'"seen":' + b'{"a":' * 600 + b"{", 1),
    "tenant in full": _body(tenant={"id": "0f" * 16}),
    "refs null": _body().replace(b'"refs":[', b'"refs":null,"x":['),
}
