"""The subject of a deed: a clause of the source says what it says of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from ai.answer.claims.matched import Found, Matched, lost
from ai.answer.claims.omissions.phrases import phrase
from ai.answer.claims.roles import OPENS
from ai.answer.claims.tokens import Token

_CLAUSE = re.compile(
    r"\b(?:who|which|that|whose|whom|where|when|while|whereas|because|since|although|though|after|before|until|unless"
    r"|if|once|so|how|why|whether|(?<!such )(?<!well )(?<!known )as(?! well\b)"
    r"|the (?:day|week|month|year|time|moment|way)(?= (?:the|an?|[A-Z])))\b|;",
    re.IGNORECASE,
)
"""Words that open a clause with a subject of its own."""
_RELATIVE = frozenset({"who", "which", "that"})
_EITHER = frozenset({"after", "as", "before", "since", "so", "until", "once", ";"})
"""These open a clause, or a phrase too."""
_PERSONAL = re.compile(r"\s+(?:he|she|it|they|we|I|you)\b", re.IGNORECASE)
_BRACKETED = re.compile(r"\([^()]*\)")
_WORDS_BEFORE, _MOST_BEFORE = 3, 60
"""Words, and characters, between the comma with which an aside begins and the pronoun: `, most of which`."""
_GOES_ON = re.compile(
    r",\s+(?:and|but|or|yet)\b(?:\s+(?:has|have|had|is|was|were|are|will|would|then|also|later))*\s*$", re.IGNORECASE
)
"""The predicate of the main clause goes on."""
_DEFINING = re.compile(r"\s+(?:who|which|that|whom|whose)\b", re.IGNORECASE)
_THAN = re.compile(r"\bthan\b", re.IGNORECASE)
_RATHER = re.compile(r",\s+not\b[^,]*,\s*")
"""Between a noun and the pronoun that stands for it: `it was Ann, not her brother, who`."""
_NEW_SUBJECT = re.compile(
    r",\s+(?:and|but|while|whereas|or)\s+(?:the|a|an|his|her|its|their|some|many|most|others?|another)\s+[a-z]"
)
_ARTICLE = re.compile(r"\b(?:the|a|an)\s+$", re.IGNORECASE)
_ANOTHER_DEED = re.compile(
    r"\b(?:and|but|or|then)\s+(?:\w+ly\s+|then\s+)?[a-z]+\s+(?:the|a|an|his|her|its|their|it|them)\b"
)
"""A predicate that goes on with another verb: `and kept the school`."""
_JOINED = re.compile(r"\b(?:and|but|or|then)\b")
_LATER = re.compile(r"\b(?:and|but|or),\s*$")
_ASIDE = re.compile(
    r",\s+(?:(?:\w+\s+of\s+)?(?:who|which|whose|whom|where)|[a-z]+(?:ed|ing)|by|with|like|unlike|as|than|on|in)\b"
)


@dataclass(frozen=True, slots=True)
class _Step:
    """A word of mine that follows on another: their places in the source, where the first ends there, what stands
    between them in mine, and whether the first is a name, and stands in mine without a preposition; `owner`: has a
    possessive in the source alone. Of a pronoun that opens both sentences the place is -1."""

    j: int
    k: int
    start: int
    between: str
    of_name: bool
    free: bool
    owner: bool = False


def subjects(both: Matched) -> Found:
    """A word of mine that follows on another without a preposition is said of the same in the source: no clause with a
    subject that mine leaves out opens between them there. A phrase of mine belongs to a clause that is kept."""
    for step in _steps(both):
        told = _other_phrase(step, both) if both.theirs[step.k].opener else _another(step, both)
        if told is not None:
            return lost(both.theirs[step.k], f"is said of “{told.text}”")
    return None


def _steps(both: Matched) -> Iterator[_Step]:
    mine, theirs, placed = both.mine, both.theirs, both.placed
    opens, opened = OPENS.match(both.text), OPENS.match(both.source)
    if opens and opened and 0 in placed and opens[1].casefold() == opened[1].casefold():
        between = both.text[opens.end() : mine[0].start]
        yield _Step(-1, placed[0], opened.end(), between, of_name=False, free=True)
    for i, k in placed.items():
        j = placed.get(i - 1)
        if j is None or k <= j:
            continue
        before = mine[i - 1]
        free = not mine[phrase(mine, i - 1)[-1]].role
        owner = theirs[j].owns and not before.owns
        yield _Step(j, k, theirs[j].end, both.text[before.end : mine[i].start], before.name, free, owner)


def _another(step: _Step, both: Matched) -> Token | None:
    """The subject that the source has for the second word, where it is not the first."""
    gap = _masked(step, both)
    clause = _open_clause(gap)
    if clause is not None and not _GOES_ON.search(gap):
        return _of_clause(clause, gap, step, both) or _passed_over(gap, step, both)
    return _passed_over(gap, step, both) or _named(step, both)


def _passed_over(gap: str, step: _Step, both: Matched) -> Token | None:
    """The word that the second belongs to in the source by a possessive, a comparison, the outer clause, or as its own
    subject."""
    theirs = both.theirs
    if step.k == step.j + 1:
        return None
    if step.owner:
        return theirs[step.j + 1]
    if _is_compared(gap, step):
        return theirs[step.k - 1]
    fresh = _NEW_SUBJECT.search(gap)
    if fresh is not None and theirs[step.k - 1].start > step.start + fresh.start():
        return theirs[step.k - 1]
    return _outside(step, both)


def _of_clause(clause: re.Match[str], gap: str, step: _Step, both: Matched) -> Token | None:
    """The subject of a clause that opens between the two."""
    theirs, word = both.theirs, clause[0].casefold()
    opens, opened = step.start + clause.start(), step.start + clause.end()
    left = [token for token in theirs[step.j + 1 : step.k] if token.start >= opened and not token.key.endswith("ly")]
    defining = _DEFINING.match(gap) and word in _EITHER and not _PERSONAL.match(gap, clause.end())
    pointing = word == "that" and len(left) == 1 and _JOINED.search(gap, clause.end())  # `that diet and`
    if defining or pointing:
        return None
    told = _CLAUSE.search(step.between) is not None
    if word not in _RELATIVE or (word == "that" and (left or gap[: clause.start()].rstrip().endswith(","))):
        return _other_predicate(step, both, opens) if told else (left[-1] if left else None)
    whose = _antecedents(both, step, opens)
    if _RATHER.fullmatch(gap[: clause.start()]):
        whose.append(step.j)
    meant = step.j in whose and (told or step.free)
    return theirs[whose[0]] if whose and not meant else None


def _masked(step: _Step, both: Matched) -> str:
    """The text of the source between the two, without what stands in brackets."""
    return _BRACKETED.sub(lambda aside: " " * len(aside[0]), both.source[step.start : both.theirs[step.k].start])


def _is_compared(gap: str, step: _Step) -> bool:
    """True if a comparison stands between that mine leaves out, and not in an aside."""
    than = _THAN.search(gap)
    return than is not None and not _is_aside(gap, than) and not _THAN.search(step.between)


def _is_aside(gap: str, word: re.Match[str]) -> bool:
    """True if the word stands between commas: right behind the first, or in what begins with the gap."""
    last = gap.rfind(",")
    comma = gap.rfind(",", max(0, word.start() - _MOST_BEFORE), word.start())
    near = comma >= 0 and len(gap[comma + 1 : word.start()].split()) <= _WORDS_BEFORE
    return last >= word.end() and (near or gap.lstrip().startswith(","))


def _other_predicate(step: _Step, both: Matched, opens: int) -> Token | None:
    """The word right before a clause that mine has too, where mine leaves it out with what else stands behind a comma;
    or the clause belongs to what comes later: `and, once it is dry, put it back`."""
    left = [both.theirs[n] for n in range(step.j + 1, step.k) if both.theirs[n].end <= opens]
    if not left:
        return None
    last = both.source[left[-1].end : opens]
    parted = any(token.after_comma for token in left) and "," not in last
    return left[-1] if parted or _LATER.search(last) else None


def _other_phrase(step: _Step, both: Matched) -> Token | None:
    """The last word of a clause or predicate that mine leaves out and that a phrase of mine belongs to in the source:
    of `lived in Lund before she moved in 1903` nobody lived in Lund in 1903."""
    theirs, gap = both.theirs, _masked(step, both)
    left = theirs[step.j + 1 : step.k]
    if not left:
        return None
    crossed = theirs[step.j].opener and any(t.opener == theirs[step.k].opener for t in left) and _JOINED.search(gap)
    another = _ANOTHER_DEED.search(gap) and not _JOINED.search(step.between)
    if crossed or another or _is_compared(gap, step):
        return left[-1]
    clause = _open_clause(gap)
    if clause is None or _CLAUSE.search(step.between):
        return None
    if clause[0].casefold() in _EITHER and not _PERSONAL.match(gap, clause.end()):
        return None
    return next((token for token in reversed(left) if token.start >= step.start + clause.end()), None)


def _outside(step: _Step, both: Matched) -> Token | None:
    """The subject outside of the aside that the first word stands in, where the second stands behind it: of `the
    warden, elected by the trustees, visits` it is the warden who visits."""
    if step.j < 0 or both.kept[0] < step.j:
        return None
    theirs, source = both.theirs, both.source
    comma = source.rfind(",", 0, theirs[step.j].start)
    closes = source.find(",", theirs[step.j].end, theirs[step.k].start)
    if comma < 0 or closes < 0 or not _ASIDE.match(source, comma):
        return None
    return next((token for token in reversed(theirs[: step.j]) if token.end <= comma), None)


def _open_clause(gap: str) -> re.Match[str] | None:
    """The last clause that opens in the gap and is not closed in it: one between commas is, with what opens inside."""
    last, closed, found = gap.rfind(","), -1, None
    for opens in _CLAUSE.finditer(gap):
        if opens.start() < closed:
            continue
        if _is_aside(gap, opens):
            closed = last
        else:
            found = opens
    return found


def _named(step: _Step, both: Matched) -> Token | None:
    """The name that stands directly before the word, where mine says it of another name: `Ida came and Per went`. One
    between an article and a noun belongs to the noun."""
    theirs, source = both.theirs, both.source
    last, after = theirs[step.k - 1], theirs[step.k]
    if not step.of_name or step.k - 1 == step.j or after.name or after.after_comma or not last.name or last.owns:
        return None
    names = (n for n in range(step.k - 1, step.j, -1) if n == step.j + 1 or not (theirs[n].name and theirs[n - 1].name))
    first = next(names)
    if theirs[first].role or _ARTICLE.search(source, 0, theirs[first].start) or ")" in source[last.end : after.start]:
        return None
    return last


def _antecedents(both: Matched, step: _Step, at: int) -> list[int]:
    """The words that a relative pronoun may stand for, nearest first: the noun before it with its names, what that
    belongs to, and what stands in brackets between."""
    theirs = both.theirs
    said = both.source[:at].rstrip(" ,")
    noun_ends = said.rfind("(") if said.endswith(")") else at
    before = range(step.k - 1, -1, -1)
    inside = list(takewhile(lambda n: theirs[n].start >= noun_ends, (n for n in before if theirs[n].end <= at)))
    noun = next((n for n in before if theirs[n].end <= noun_ends), None)
    return inside if noun is None else inside + phrase(theirs, noun)
