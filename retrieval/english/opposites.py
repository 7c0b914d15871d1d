"""Everyday words that say the contrary of each other, by root: a text that says the one does not answer who asks with
the other. Words that turn a relation round (`buy`, `sell`) are none: a sale answers who bought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from retrieval.english.stems import root_of

_PAIRS = (
    "more / less fewer; most / least fewest; larger bigger / smaller; largest biggest / smallest; large big great / "
    "small little; higher taller / lower shorter; highest tallest / lowest shortest; high / low; older / younger "
    "newer; oldest / youngest newest; old / new young; longer / shorter; longest / shortest; long / short; earlier / "
    "later; earliest / latest; deeper / shallower; deepest / shallowest; deep / shallow; wider / narrower; wide / "
    "narrow; faster / slower; fastest / slowest; fast / slow; cheaper / dearer; cheapest / dearest; heaviest / "
    "lightest; best / worst; better / worse; strong / weak; hot warm / cold; rich / poor; wet / dry; full / empty; "
    "begin start commence / end finish conclude cease; increase rise / decrease fall decline drop; win / lose; before "
    "/ after; above / below; with / without; upstream / downstream; north / south; northern / southern; east / west; "
    "eastern / western; upper / lower; inner / outer; top / bottom; front / rear; inside indoor indoors / outside "
    "outdoor outdoors; upstairs / downstairs; summer / winter; spring / autumn; morning mornings / afternoon "
    "afternoons evening evenings; weekday weekdays / weekend weekends; male / female; man men / woman women; boy / "
    "girl; king / queen; prince / princess; mother / father; brother / sister; son / daughter; uncle / aunt; adult / "
    "child; public / private; positive / negative; maximum / minimum; major / minor; import / export; arrival / "
    "departure; arrive / depart leave; profit / loss; victory / defeat; birth / death; born / died dead; alive / dead"
)
_FURTHER_PAIRS = (
    "parttime / fulltime; halfday / fullday wholeday; open / close shut; appoint hire / dismiss revoke sack; accept / "
    "reject refuse decline; join / leave quit; add / remove; praise / criticise condemn; succeed / fail; married / "
    "divorced; begin start commence / close shut"
)
"""Pairs of which one is not told by who denies the other: who was not sacked was perhaps never appointed."""


def _read(pairs: str) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in pairs.split(";"):
        one, other = ({root_of(word) for word in side.split()} for side in pair.split("/"))
        for root, contrary in [*((each, other) for each in one), *((each, one) for each in other)]:
            found.setdefault(root, set()).update(contrary)
    return {root: frozenset(contrary - {root}) for root, contrary in found.items()}


NARROWER = _read(_PAIRS)
OPPOSITES = _read(f"{_PAIRS}; {_FURTHER_PAIRS}")
"""By a root those of the words that say the contrary; `NARROWER` those that a
question which denies means too."""


def pairs() -> Iterator[tuple[str, str]]:
    """Each word with each that says its contrary, both ways."""
    for pair in f"{_PAIRS}; {_FURTHER_PAIRS}".split(";"):
        one, other = (side.split() for side in pair.split("/"))
        for word in one:
            for contrary in other:
                yield word, contrary
                yield contrary, word
