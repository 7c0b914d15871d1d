"""Phrases of places and things: where they lie, what they border, and which are left out."""

from __future__ import annotations

from ai.intent.lexicon import Role
from ai.intent.phrases import Listed, Related
from ai.intent.scanning.scanner import Scanner
from retrieval.model import EntityRef

_JOINED_BY_BUT = (Role.COMPARATOR, Role.NEGATION, Role.BORDER, Role.OUTSIDE)


def exception(s: Scanner) -> bool:
    if not s.has(Role.EXCEPTION):
        return False
    if s.item().text == "but" and any(s.has(role, s.skip(1)) for role in _JOINED_BY_BUT):
        s.at += 1  # `more than 5,000 but fewer than 9,000` joins two conditions
        return True
    if (ahead := _those(s)) and s.denied is None:  # `except those that border it`: the condition after it, denied
        s.deny(s.item())
        s.at += ahead
        return True
    for role, slot in ((Role.PLACE, s.found.excepted), (Role.THING, s.found.things_excepted)):
        listed = s.listed(1, role)
        if listed is not None and listed[0].joined != "nor":
            slot.extend(listed[0].refs)
            s.at += listed[1]
            return True
    return False


def _those(s: Scanner) -> int:
    """The distance of the condition after `except those that`, `other than the ones which`; zero where none follows."""
    ahead = s.skip(1)
    if s.text(ahead) not in ("those", "the ones", "ones"):
        return 0
    ahead += 1
    while s.text(ahead) in ("that", "which", "who"):
        ahead += 1
    return ahead if any(s.has(role, ahead) for role in (Role.BORDER, Role.INSIDE, Role.OUTSIDE)) else 0


def outside(s: Scanner) -> bool:
    listed = s.listed(1, Role.PLACE) if s.has(Role.OUTSIDE) else None
    if listed is None or len(listed[0].refs) > 1:
        return False
    s.found.inside.append(Related(listed[0], s.take_denial(), "outside"))
    s.at += listed[1]
    return True


def border(s: Scanner) -> bool:
    if not (s.has(Role.BORDER) or s.has(Role.NEIGHBOUR)):
        return False
    noun = s.has(Role.NEIGHBOUR)
    excepted = s.denied is not None and s.denied.has(Role.EXCEPTION)
    holds, ahead = s.take_denial(), s.skip(1)
    if s.text(ahead) in (("of", "to", "on", "with", "by") if noun else ("on", "with", "by", "to")):
        ahead += 1
    if s.has(Role.NEGATION, ahead) and s.item(ahead).text in ("neither", "not"):
        holds, ahead = False, ahead + 1
    listed = s.listed(ahead, Role.PLACE)
    if noun and not s.has(Role.BORDER):
        s.found.neighbours.append(True)
    if listed is None:
        s.found.borders.append(Related(Listed(()), holds))
        s.at += 1
        return True
    s.found.borders.append(Related(listed[0], holds, "except" if excepted else ""))
    s.last = "borders"
    s.at += listed[1]
    return True


def inside(s: Scanner) -> bool:
    if not s.has(Role.INSIDE):
        return False
    ahead = s.skip(1)
    if s.has(Role.WHICH, ahead) and s.has(Role.KIND, ahead + 1):
        s.found.within.append(str(s.item(ahead + 1).roles[Role.KIND]))
        s.at += ahead + 2
        return True
    listed = s.listed(1, Role.PLACE)
    if listed is not None:
        s.found.inside.append(Related(listed[0], s.take_denial(), s.item().text))
        s.last = "inside"
        s.at += listed[1]
        return True
    things = s.listed(1, Role.THING)
    if things is not None:
        if s.take_denial():
            s.found.things.append(things[0])
        else:
            s.found.things_denied += things[0].refs
        s.at += things[1]
        return True
    s.at += 1
    return True  # before a time, a measure or a kind it joins; before what is not understood that is left over


_NEARER = frozenset({"closer", "nearer", "farther", "further"})


def towards(s: Scanner) -> bool:
    """`nearest to Topeka`, `from Topeka to Wichita`."""
    if not (s.has(Role.TO) and s.item().text in ("to", "from")):
        return False
    listed = s.listed(1, Role.PLACE)
    if listed is None:
        return False
    if _NEARER & set(s.found.compared) and len(listed[0].refs) > 1:
        listed = (Listed(listed[0].refs[:1]), s.skip(1) + 1)  # `closer to Topeka, Emporia or Manhattan`
    s.found.towards += listed[0].refs
    s.at += listed[1]
    return True


def between(s: Scanner) -> bool:
    """`between Topeka and Wichita`."""
    listed = s.listed(1, Role.PLACE) if s.has(Role.BETWEEN) else None
    if listed is None or len(listed[0].refs) != 2:
        return False
    s.found.named.append(listed[0])
    s.at += listed[1]
    return True


def denied_place(s: Scanner) -> bool:
    """`border Riley County but not Geary County`: the condition before it, denied; else an exception."""
    if s.denied is None:
        return False
    things = s.listed(0, Role.THING)
    if things is not None:
        s.denied = None
        s.found.things_denied += things[0].refs
        s.at += things[1]
        return True
    listed = s.listed(0, Role.PLACE)
    if listed is None or s.denied.text not in ("not", "nor"):
        return False
    s.denied = None
    if s.last == "borders":
        s.found.borders.append(Related(listed[0], holds=False))
    elif s.last == "inside":
        s.found.inside.append(Related(listed[0], holds=False, said="in"))
    else:
        s.found.excepted += listed[0].refs
    s.at += listed[1]
    return True


def attributive(s: Scanner) -> bool:
    """`Kansas towns`, `the Kansas towns`: a place directly before a kind says where that lies."""
    ahead = s.skip()
    place = s.item(ahead).roles.get(Role.PLACE) if s.has(Role.PLACE, ahead) else None
    if not isinstance(place, EntityRef) or not s.has(Role.KIND, ahead + 1) or s.denied is not None:
        return False
    s.found.inside.append(Related(Listed((place,)), said="in"))
    s.at += ahead + 1
    return True
