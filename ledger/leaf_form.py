"""The one form of a leaf's bytes, as a regular expression for each kind.

RFC 8785 sorts the keys and allows no space, and no character that a leaf may hold needs an escape: so a leaf of a kind
has one form, and what matches it is canonical and has every field. One pass both parses and judges, in a tenth of the
time of a JSON parser, the rules and the encoder one after the other.
"""

from __future__ import annotations

import re

from ledger.model import LEAF_VERSION, PART_NAMES, Kind, Leaf, Ref, TreeHead
from ledger.tree import EMPTY_ROOT

MAX_INTEGER = 2**53 - 1
HEX32 = "[0-9a-f]{64}"
UUID7 = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
TOKEN = "[A-Za-z0-9][A-Za-z0-9._:-]{0,127}"  # noqa: S105
REL = "[a-z][a-z0-9_-]{0,31}"
_COUNT = "0|[1-9][0-9]{0,15}"
_REF = f'{{"id":"{UUID7}","leaf":"{HEX32}","rel":"{REL}"}}'
_REF_FIELDS = re.compile(f'{{"id":"({UUID7})","leaf":"({HEX32})","rel":"({REL})"}}')
_KIND_AT = 53  # behind `{"id":"`, the id and `","kind":"`


def _form(kind: Kind) -> re.Pattern[str]:
    parts = ",".join(f'"{re.escape(name)}":"({HEX32})"' for name in sorted(PART_NAMES[kind]))
    return re.compile(
        f'{{"id":"({UUID7})","kind":"{kind}","parts":{{{parts}}},"refs":\\[((?:{_REF}(?:,{_REF})*)?)\\],'
        f'"replica":"({TOKEN})","req":"({TOKEN})","rseq":([1-9][0-9]{{0,15}}),'
        f'"seen":{{"root":"({HEX32})","size":({_COUNT})}},'
        f'"t":({_COUNT}),"tenant":"({TOKEN})","v":"{re.escape(LEAF_VERSION)}"}}'
    )


def _places(kind: Kind) -> tuple[tuple[str, int], ...]:
    """Each part's name with its group in the form, in the order of the kind's parts."""
    by_key = sorted(PART_NAMES[kind])
    return tuple((name, 2 + by_key.index(name)) for name in PART_NAMES[kind])


_FORMS = {str(kind): (kind, _form(kind), _places(kind)) for kind in Kind}


def read_form(data: bytes) -> Leaf | None:
    """The leaf of bytes in the one form; None for any other bytes, and where a number or a repeated ref breaks a rule:
    the caller says which."""
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError:
        return None
    found = _FORMS.get(text[_KIND_AT : text.find('"', _KIND_AT)])
    match = found and found[1].fullmatch(text)
    if not found or not match:
        return None
    kind, _, places = found
    refs, replica, request_id, rseq, root, size, t_ms, tenant = match.groups()[1 + len(places) :]
    leaf = Leaf(
        kind=kind,
        entry_id=match[1],
        t_ms=int(t_ms),
        tenant=tenant,
        replica=replica,
        rseq=int(rseq),
        request_id=request_id,
        parts={name: match[group] for name, group in places},
        refs=tuple(Ref(rel=ref[3], id=ref[1], leaf=ref[2]) for ref in _REF_FIELDS.finditer(refs)) if refs else (),
        seen=TreeHead(int(size), bytes.fromhex(root)),
    )
    return leaf if _holds(leaf) else None


def _holds(leaf: Leaf) -> bool:
    """What the form alone does not say."""
    within = leaf.t_ms <= MAX_INTEGER and leaf.rseq <= MAX_INTEGER and leaf.seen.size <= MAX_INTEGER
    return (
        within
        and (leaf.seen.size > 0 or leaf.seen.root == EMPTY_ROOT)
        and (len(leaf.refs) < 2 or len({(ref.rel, ref.id) for ref in leaf.refs}) == len(leaf.refs))
    )
