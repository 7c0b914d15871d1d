"""Helpers that the readers share: the places that a figure is of, the one kind that is asked for, and where times
lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ai.intent.phrases import Top
from ai.intent.planning.sets import Asked, border_of
from retrieval.algebra.describe import Names
from retrieval.algebra.operations import Operation
from retrieval.algebra.wording import listed
from retrieval.model import EntityRef

Read = Sequence[Operation]
TESTING = frozenset(["is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could"])
_SUBJECT = frozenset({"of", "in", "at", "for", "from", "inside", "within"})


def subjects(asked: Asked) -> tuple[EntityRef, ...]:
    """The places that a figure is of; none where a place is denied or offered as a choice."""
    p = asked.phrases
    if any(not r.holds or r.said not in _SUBJECT for r in p.inside):
        return ()
    refs = [ref for listed in p.named for ref in listed.refs]
    refs += [ref for related in p.inside for ref in related.listed.refs]
    if not refs and not asked.region and asked.shown is not None:
        refs = [asked.shown]
    if p.measures and not p.kinds:
        held = {kind for m in p.measures for name in m for kind in asked.lexicon.domain.kinds_with(name)}
        refs = [asked.of_type(ref, held) for ref in refs]
    return tuple(dict.fromkeys(refs))


def offered(asked: Asked) -> bool:
    """True if places are offered as a choice."""
    p = asked.phrases
    return any(listed.joined in ("or", "nor") for listed in (*p.named, *(r.listed for r in p.inside)))


def named(ids: Sequence[str], names: Names) -> str:
    """The places as a reading names them."""
    return listed([names.get(place_id, place_id) for place_id in ids])


def order_of(order: str) -> Literal["largest", "smallest"]:
    return "largest" if order == "largest" else "smallest"


def limit_of(asked: Asked, top: Top) -> int:
    counts = [n for n in (top.limit, *asked.phrases.counts) if n is not None]
    return counts[0] if counts else 1


def here(asked: Asked) -> tuple[str, ...]:
    """The kind of phrase that is a condition where the map shows a region."""
    return ("here",) if asked.region else ()


def of_measure(asked: Asked) -> bool:
    """True if `how many`, where it is said, stands before a measure (`how many people`), and not before what is
    counted."""
    return "many" not in asked.phrases.asked or asked.phrases.counted == ["measure"]


def set_kind(asked: Asked) -> str | None:
    """The one kind of place that is asked for; of neighbours the kind of their centre."""
    p = asked.phrases
    kinds = set(p.kinds)
    if p.neighbours and not kinds and len(p.borders) == 1:
        kinds = {ref.type for ref in border_of(asked, p.borders[0])}
    return kinds.pop() if len(kinds) == 1 and len(p.kinds) < 2 else None


def named_used(asked: Asked) -> bool:
    """True if every place that stands alone is the centre of a border, or what others are compared with."""
    p = asked.phrases
    bare = sum(not related.listed.refs for related in p.borders) + len(p.than)
    return not p.named or (bare == 1 and len(p.named) == 1 and len(p.named[0].refs) == 1)


def open_times(asked: Asked) -> bool:
    """True if every time is made of whole years: a span, or what is before or after one."""
    return all(
        (t.time.start.month, t.time.start.day) == (1, 1) and (t.time.end.month, t.time.end.day) == (12, 31)
        for t in asked.phrases.times
    )
