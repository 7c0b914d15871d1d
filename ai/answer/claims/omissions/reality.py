"""The force of a source sentence: it says that something is so, or asks, supposes, tells a tale, quotes a speaker."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ai.answer.claims.lexicon import FACTIVE, FICTIONS, FRAME, RECORDS, REPORTING, SPEAKING, SUPPOSING
from ai.answer.claims.matched import Found, Matched, unsaid
from ai.answer.claims.tokens import Token
from retrieval.english.stems import stem

_COMPLEMENT = re.compile(
    r"\b(?:that|whether|how|why)\s+(?:(?:the|a|an|his|her|its|their|this|these|those|all)\s*)?$", re.IGNORECASE
)
_SO = re.compile(r"\b(?:so|such)\b", re.IGNORECASE)
_INVERTED = re.compile(
    r"\W*(had|were|should|suppose|supposing|assuming|imagine|whether|as if|as though)\b", re.IGNORECASE
)
_ASIDES = frozenset({"whether", "as if", "as though"})
"""The main clause stands without the one that these open."""
_FRONTED = re.compile(r"\W*(?:as )?(?:in|according to)\b([^,;]*)", re.IGNORECASE)
_ACCORDING = re.compile(r"\W*according to\b", re.IGNORECASE)
_QUOTED = re.compile(r"“[^“”]+”|\"[^\"]+\"")
_TAKEN_BACK = re.compile(
    r"\b(?:this|that|it|which) (?:is|was) (?:false|untrue|wrong|incorrect|a myth|disputed|denied|disproved|not true"
    r"|not so)\b|, (?:or )?so [^,;.]{2,40} (?:said|says|claimed|claims|believed|thought)\b|\bthe story goes\b"
    r"|\bit is said\b|, some say\b",
    re.IGNORECASE,
)
_JOINING = re.compile(r"\b(?:and|but|or|while|who|which|that)\b", re.IGNORECASE)
_MOST_SAID = 4
"""Words with which a sentence may end, or that stand between commas, that say who said it."""


def reality(both: Matched) -> Found:
    """My words are not taken out of a question, a condition, a tale, or what somebody thinks, says or denies."""
    said = _unstated(both) or _told(_matrix(both)) or _told(_speaker(both))
    return None if said is None else unsaid(said)


def _told(word: Token | None) -> str | None:
    return None if word is None else word.text


def _unstated(both: Matched) -> str | None:
    """The words of the whole sentence by which mine is not stated as it stands."""
    text, source = both.text, both.source
    start, end = both.theirs[both.kept[0]].start, both.theirs[both.kept[-1]].end
    if source.rstrip().endswith("?") and not text.rstrip().endswith("?"):
        return "?"
    inverted = _INVERTED.match(source)
    if inverted is not None and inverted[1].casefold() not in text.casefold():
        aside = inverted[1].casefold() in _ASIDES and 0 < source.find(",") < start
        if not aside:
            return inverted[1]
    back = _TAKEN_BACK.search(source, end)
    if back is not None:
        return back[0].strip(" ,")
    return _fronted(both, start) or _quoted(both, start, end)


def _fronted(both: Matched, start: int) -> str | None:
    """The tale, or the one who says so, with which the source begins; what a record says is so."""
    fronted = _FRONTED.match(both.source, 0, start)
    if fronted is None:
        return None
    words = fronted[1].casefold().split()
    tale = next((word for word in words if word in FICTIONS), None)
    if tale is None and _ACCORDING.match(both.source) and not any(w in FRAME or w in RECORDS for w in words):
        return "according to"
    return tale


def _quoted(both: Matched, start: int, end: int) -> str | None:
    """The words beside a quotation that all of mine are taken from."""
    inside = next((q for q in _QUOTED.finditer(both.source) if q.start() < start and end < q.end()), None)
    if inside is None or any(mark in both.text for mark in '“"'):
        return None
    return (both.source[: inside.start()] + both.source[inside.end() :]).strip(" .,") or None


def _matrix(both: Matched) -> Token | None:
    """The word of which mine is only what it says, thinks or denies: `it is a myth that`, `few believe`."""
    theirs, source, first = both.theirs, both.source, both.kept[0]
    start = theirs[first].start
    clause = _COMPLEMENT.search(source, max(0, start - 40), start)
    pause = max(source.rfind(",", 0, start), source.rfind(";", 0, start))
    before = [token for token in theirs[:first] if token.end > pause]
    if clause is not None and not (_SO.search(source, 0, clause.start()) and "that" in clause[0]):
        heads = [token for token in before if token.end <= clause.start()]
        heads = heads or [token for token in theirs[:first] if pause >= token.end > source.rfind(";", 0, start)]
        if heads and not any(stem(token.key) in FACTIVE for token in heads):
            return heads[-1]
    return next((token for token in reversed(before) if stem(token.key) in SUPPOSING), None)


def _speaker(both: Matched) -> Token | None:
    """The word by which somebody says it, behind it or between commas: `…, the clerk said.`"""
    return next((aside[-1] for aside in _left_asides(both) if _says(aside, both.source)), None)


def _left_asides(both: Matched) -> Iterator[list[Token]]:
    """The words left out between two pauses behind the first word that is kept; behind the last, up to the second."""
    aside: list[Token] = []
    pauses = 0
    for n in range(both.kept[0] + 1, len(both.theirs)):
        token = both.theirs[n]
        if token.after_comma:
            if aside:
                yield aside
            aside = []
            pauses += n > both.kept[-1]
            if pauses > 1:
                return
        if both.has(n) or not (aside or token.after_comma):
            aside = []
        else:
            aside.append(token)
    if aside:
        yield aside


def _says(aside: list[Token], source: str) -> bool:
    """True if the words between two pauses say who says it."""
    begins = source.rfind(",", 0, aside[0].start)
    if len(aside) > _MOST_SAID or begins < 0 or _JOINING.search(source, begins, aside[-1].end):
        return False
    verbs = [token for token in (aside[-1], aside[0]) if not token.text.endswith("ing")]
    return any(token.key in REPORTING or stem(token.key) in SPEAKING for token in verbs)
