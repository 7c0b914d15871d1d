"""The forms of a leaf's bytes, a regular expression for each version and kind.

RFC 8785 sorts the keys and allows no space, and no character that a leaf may hold needs an escape: so a leaf of a
version and kind has one form, and what matches it is canonical and has every field. One pass both parses and judges,
in a tenth of the time of a JSON parser, the rules and the encoder one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ledger.merkle.tree import EMPTY_ROOT
from ledger.model import FORMS, Kind, Leaf, Ref, TreeHead

MAX_INTEGER = 2**53 - 1
HEX32 = "[0-9a-f]{64}"
UUID7 = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
TOKEN = "[A-Za-z0-9][A-Za-z0-9._:-]{0,127}"  # noqa: S105
REL = "[a-z][a-z0-9_-]{0,31}"
_COUNT = "0|[1-9][0-9]{0,15}"
_REF = f'{{"id":"{UUID7}","leaf":"{HEX32}","rel":"{REL}"}}'
_REF_FIELDS = re.compile(f'{{"id":"({UUID7})","leaf":"({HEX32})","rel":"({REL})"}}')
_KIND_AT = 53  # behind `{"id":"`, the id and `","kind":"`


@dataclass(frozen=True, slots=True)
class LeafForm:
    """One form: its parts in their order, the regular expression, and each part's group in it."""

    version: str
    kind: Kind
    parts: tuple[str, ...]
    pattern: re.Pattern[str]
    groups: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, version: str, kind: Kind, parts: tuple[str, ...]) -> LeafForm:
        """The form of a version and kind with parts of these names."""
        by_key = sorted(parts)
        committed = ",".join(f'"{re.escape(name)}":"({HEX32})"' for name in by_key)
        pattern = re.compile(
            f'{{"id":"({UUID7})","kind":"{kind}","parts":{{{committed}}},"refs":\\[((?:{_REF}(?:,{_REF})*)?)\\],'
            f'"replica":"({TOKEN})","req":"({TOKEN})","rseq":([1-9][0-9]{{0,15}}),'
            f'"seen":{{"root":"({HEX32})","size":({_COUNT})}},'
            f'"t":({_COUNT}),"tenant":"({TOKEN})","v":"{re.escape(version)}"}}'
        )
        return cls(version, kind, parts, pattern, tuple((name, 2 + by_key.index(name)) for name in parts))


LeafForms = Mapping[tuple[str, str], LeafForm]


def forms_of(names: Mapping[tuple[str, Kind], tuple[str, ...]]) -> LeafForms:
    """The forms of these versions and kinds."""
    return {(version, str(kind)): LeafForm.of(version, kind, parts) for (version, kind), parts in names.items()}


KNOWN = forms_of(FORMS)


def read_form(data: bytes, forms: LeafForms = KNOWN) -> Leaf | None:
    """The leaf of bytes in one of the forms; None for any other bytes, and where a number or a repeated ref breaks a
    rule: the caller says which."""
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError:
        return None
    form = forms.get((text[text.rfind('"', 0, -2) + 1 : -2], text[_KIND_AT : text.find('"', _KIND_AT)]))
    match = form and form.pattern.fullmatch(text)
    if not form or not match:
        return None
    refs, replica, request_id, rseq, root, size, t_ms, tenant = match.groups()[1 + len(form.parts) :]
    leaf = Leaf(
        kind=form.kind,
        entry_id=match[1],
        t_ms=int(t_ms),
        tenant=tenant,
        replica=replica,
        rseq=int(rseq),
        request_id=request_id,
        parts={name: match[group] for name, group in form.groups},
        refs=tuple(Ref(rel=ref[3], id=ref[1], leaf=ref[2]) for ref in _REF_FIELDS.finditer(refs)) if refs else (),
        seen=TreeHead(int(size), bytes.fromhex(root)),
        version=form.version,
    )
    return leaf if _holds(leaf) else None


def _holds(leaf: Leaf) -> bool:
    """Rules beyond the form alone."""
    within = leaf.t_ms <= MAX_INTEGER and leaf.rseq <= MAX_INTEGER and leaf.seen.size <= MAX_INTEGER
    return (
        within
        and (leaf.seen.size > 0 or leaf.seen.root == EMPTY_ROOT)
        and (len(leaf.refs) < 2 or len({(ref.rel, ref.id) for ref in leaf.refs}) == len(leaf.refs))
    )
