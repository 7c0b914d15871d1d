"""Clauses of a source sentence: whose deed one tells, and whether it says that something is so at all."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from ai.answer.claims.lexicon import FACTIVE, FICTIONS, REPORTING, SUPPOSING
from ai.answer.claims.roles import OPENS, Found, Placed
from ai.answer.claims.tokens import Token
from retrieval.english.stems import stem

_CLAUSE = re.compile(
    r"\b(?:who|which|that|whose|whom|where|when|while|whereas|because|since|although|though|after|before|until|unless"
    r"|if|once|so|how|why|whether|(?<!such )(?<!well )(?<!known )as(?! well\b)"
    r"|the (?:day|week|month|year|time|moment|way)(?= (?:the|an?|[A-Z])))\b|;",
    re.IGNORECASE,
)
"""Words that open a clause with a subject of its own."""
_RELATIVE = frozenset({"who", "which", "that"})
_CONTAINING = frozenset({"of", "in", "at", "on", "from", "near", "by"})
"""Prepositions behind which a phrase belongs to the noun before it: who is `who` of `the miller in Dunmore, who`."""
_BRACKETED = re.compile(r"\([^()]*\)")
_WORDS_BEFORE, _MOST_BEFORE = 3, 60
"""Words, and characters, between the comma with which an aside begins and the pronoun: `, most of which`."""
_LONGEST = 12
"""Words of a phrase."""
_ARTICLE = re.compile(r"\b(?:the|a|an)\s+$", re.IGNORECASE)


_LIMIT = re.compile(
    r"\b(?<!even )(?<!as )(?<!what )(?:if|unless|except|excepting|excluding|barring|exception"
    r"|provided(?= that| the| it| they| you)|providing that|as long as(?! \d)|so long as|on condition|(?<=, )subject to"
    r"|apart from|other than|but for(?! wh))\b",
    re.IGNORECASE,
)
"""Words for what limits the rest of the sentence."""
_OTHER_CLAUSE = re.compile(r";|—|, (?:and|but|or|while|whereas)\b", re.IGNORECASE)
_COMPLEMENT = re.compile(
    r"\b(?:that|whether|how|why)\s+(?:the|a|an|his|her|its|their|this|these|those|all)?\s*$", re.IGNORECASE
)
_SO = re.compile(r"\b(?:so|such)\b", re.IGNORECASE)
_INVERTED = re.compile(r"\W*(had|were|should|suppose|supposing|assuming|imagine)\b", re.IGNORECASE)
_FRONTED = re.compile(r"\W*(?:as )?(?:in|according to)\b([^,;]*),", re.IGNORECASE)
_QUOTED = re.compile(r"“[^“”]+”|\"[^\"]+\"")
_TAKEN_BACK = re.compile(
    r"\b(?:this|that|it|which) (?:is|was) (?:false|untrue|wrong|incorrect|a myth|disputed|denied|disproved|not true"
    r"|not so)\b|, (?:or )?so [^,;.]{2,40} (?:said|says|claimed|claims|believed|thought)\b|\bthe story goes\b"
    r"|\bit is said\b|, some say\b",
    re.IGNORECASE,
)
_JOINING = re.compile(r"\b(?:and|but|or|while|who|which|that)\b", re.IGNORECASE)
_MOST_SAID = 3
"""Words with which a sentence may end that says who said it: `, the clerk of the court said`."""


def reality(mine: Sequence[Token], theirs: Sequence[Token], placed: Placed, text: str, source: str) -> Found:
    """My words are not taken out of a question, a condition, a tale, or what somebody thinks, says or denies."""
    taken = sorted(placed.values())
    kept = [theirs[j] for j in taken]
    start, end = kept[0].start, kept[-1].end
    said = _unstated(text, source, start, end) or _limited(text, source, kept)
    if said is None and (head := _matrix(theirs, taken[0], source)) is not None:
        said = head.text
    if said is None and (speaker := _speaker(theirs, taken[-1], source)) is not None:
        said = speaker.text
    return None if said is None else ("contradicted", f"the source says “{said}”")


def _unstated(text: str, source: str, start: int, end: int) -> str | None:
    """The words of the whole sentence by which mine is not stated as it stands."""
    if source.rstrip().endswith("?") and not text.rstrip().endswith("?"):
        return "?"
    inverted = _INVERTED.match(source)
    if inverted is not None and not re.search(rf"\b{inverted[1]}\b", text, re.IGNORECASE):
        return inverted[1]
    fronted = _FRONTED.match(source)
    if fronted is not None and fronted.end() <= start:
        tale = next((word for word in fronted[1].casefold().split() if word in FICTIONS), None)
        if tale is not None:
            return tale
    back = _TAKEN_BACK.search(source, end)
    if back is not None:
        return back[0].strip(" ,")
    inside = next((q for q in _QUOTED.finditer(source) if q.start() < start and end < q.end()), None)
    outside = inside is not None and (source[: inside.start()] + source[inside.end() :]).strip(" .,")
    return str(outside) if outside and not any(mark in text for mark in '“"') else None


def _limited(text: str, source: str, kept: Sequence[Token]) -> str | None:
    """A condition or an exception of the source that mine leaves out."""
    starts = [token.start for token in kept]
    for limit in _LIMIT.finditer(source):
        word = limit[0].casefold()
        if re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE):
            continue
        at = bisect_left(starts, limit.start())
        between = source[kept[at - 1].end : limit.start()] if at else source[limit.end() : starts[0]]
        if not _OTHER_CLAUSE.search(between):
            return word
    return None


def _matrix(theirs: Sequence[Token], first: int, source: str) -> Token | None:
    """The word of which mine is only what it says, thinks or denies: `it is a myth that`, `few believe`."""
    start = theirs[first].start
    clause = _COMPLEMENT.search(source, max(0, start - 40), start)
    pause = max(source.rfind(",", 0, start), source.rfind(";", 0, start))
    before = [token for token in theirs[:first] if token.end > pause]
    if clause is not None and before and not (_SO.search(source, 0, clause.start()) and "that" in clause[0]):
        heads = [token for token in before if token.end <= clause.start()]
        if heads and not any(stem(token.key) in FACTIVE for token in heads):
            return heads[-1]
    return next((token for token in reversed(before) if stem(token.key) in SUPPOSING), None)


def _speaker(theirs: Sequence[Token], last: int, source: str) -> Token | None:
    """The word with which the source ends that says that somebody says it: `…, the clerk said.`"""
    comma = source.rfind(",", theirs[last].end)
    left = [token for token in theirs[last + 1 :] if token.start > comma >= 0]
    if not left or len(left) > _MOST_SAID + 1 or _JOINING.search(source, comma):
        return None
    return next((t for t in (left[-1], left[0]) if t.key in REPORTING or stem(t.key) in SUPPOSING), None)


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


def subjects(mine: Sequence[Token], theirs: Sequence[Token], placed: Placed, text: str, source: str) -> Found:
    """A word of mine that follows on another without a preposition is said of the same in the source: no clause with a
    subject that mine leaves out opens between them there."""
    for step in _steps(mine, theirs, placed, text, source):
        said = _another(step, theirs, source)
        if said is not None:
            return "contradicted", f"in the source “{theirs[step.k].text}” is said of “{said.text}”"
    return None


def _steps(mine: Sequence[Token], theirs: Sequence[Token], placed: Placed, text: str, source: str) -> Iterator[_Step]:
    opens, opened = OPENS.match(text), OPENS.match(source)
    if opens and opened and 0 in placed and opens[1].casefold() == opened[1].casefold():
        yield _Step(-1, placed[0], opened.end(), text[opens.end() : mine[0].start], of_name=False, free=True)
    for i, k in placed.items():
        j = placed.get(i - 1)
        if j is None or k <= j or theirs[k].opener:
            continue
        before = mine[i - 1]
        free = not mine[_phrase(mine, i - 1)[-1]].role
        owner = theirs[j].owns and not before.owns
        yield _Step(j, k, theirs[j].end, text[before.end : mine[i].start], before.name, free, owner)


def _another(step: _Step, theirs: Sequence[Token], source: str) -> Token | None:
    """The subject that the source has for the second word, where it is not the first."""
    if step.owner and step.k > step.j + 1:
        return theirs[step.j + 1]
    gap = _BRACKETED.sub(lambda aside: " " * len(aside[0]), source[step.start : theirs[step.k].start])
    clause = _open_clause(gap)
    if clause is None:
        return _named(step, theirs, source)
    opens, opened = step.start + clause.start(), step.start + clause.end()
    left = [theirs[n] for n in range(step.j + 1, step.k) if theirs[n].start >= opened]
    left = [token for token in left if not token.key.endswith("ly")]
    told = _CLAUSE.search(step.between) is not None
    word = clause[0].casefold()
    if word not in _RELATIVE or (word == "that" and left):
        return left[-1] if left and not told else None
    whose = _antecedents(theirs, source, step, opens)
    meant = step.j in whose and (told or step.free)
    return theirs[whose[0]] if whose and not meant else None


def _open_clause(gap: str) -> re.Match[str] | None:
    """The last clause that opens in the gap and is not closed in it: one between commas is, and `, most of which`."""
    last = gap.rfind(",")
    for opens in reversed(list(_CLAUSE.finditer(gap))):
        comma = gap.rfind(",", max(0, opens.start() - _MOST_BEFORE), opens.start())
        aside = comma >= 0 and len(gap[comma + 1 : opens.start()].split()) <= _WORDS_BEFORE
        if not (aside and last >= opens.end()):
            return opens
    return None


def _named(step: _Step, theirs: Sequence[Token], source: str) -> Token | None:
    """The name that stands directly before the word, where mine says it of another name: `Ida came and Per went`. One
    between an article and a noun belongs to the noun."""
    last, after = theirs[step.k - 1], theirs[step.k]
    if not step.of_name or step.k - 1 == step.j or after.name or after.after_comma or not last.name or last.owns:
        return None
    first = next(n for n in range(step.k - 1, step.j, -1) if n == step.j + 1 or not _joined(theirs, n))
    if theirs[first].role or _ARTICLE.search(source, 0, theirs[first].start) or ")" in source[last.end : after.start]:
        return None
    return last


def _antecedents(theirs: Sequence[Token], source: str, step: _Step, at: int) -> list[int]:
    """The words that a relative pronoun may stand for, nearest first: the noun before it with its names, what that
    belongs to, and what stands in brackets between."""
    said = source[:at].rstrip(" ,")
    noun_ends = said.rfind("(") if said.endswith(")") else at
    before = range(step.k - 1, -1, -1)
    inside = list(takewhile(lambda n: theirs[n].start >= noun_ends, (n for n in before if theirs[n].end <= at)))
    noun = next((n for n in before if theirs[n].end <= noun_ends), None)
    return inside if noun is None else inside + _phrase(theirs, noun)


def _phrase(tokens: Sequence[Token], last: int) -> list[int]:
    """The places of a noun that ends a phrase, of its names, and of what it belongs to or stands beside."""
    found = [last]
    for n in range(last, max(0, last - _LONGEST), -1):
        token = tokens[n]
        beside = token.after_comma and not token.role
        if not (_joined(tokens, n) or token.opener in _CONTAINING or beside):
            break
        found.append(n - 1)
    return found


def _joined(tokens: Sequence[Token], n: int) -> bool:
    """True if the token goes on with a name."""
    return tokens[n].name and tokens[n - 1].name
