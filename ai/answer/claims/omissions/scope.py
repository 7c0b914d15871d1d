"""Words that limit a sentence: conditions, exceptions, and those that say of which, where one denies, speaks of all or
of the first."""

from __future__ import annotations

import re
from bisect import bisect_left

from ai.answer.claims.lexicon import ORDINALS, SUPERLATIVES, UNIVERSAL
from ai.answer.claims.matched import Found, Matched, unsaid
from ai.answer.claims.tokens import Token

_LIMIT = re.compile(
    r"\b(?<!even )(?<!as )(?<!what )(?:if|unless|except|excepting|excluding|barring|exception"
    r"|provided(?= that| the| it| they| you)|providing that|as long as(?! \d)|so long as|on condition"
    r"|(?<=, )subject to|apart from|other than|but for(?! wh)|besides|either|less(?! than)(?= [^,;.]{0,80}\bthan\b)"
    r"|(?<!, )once(?= (?:the|its|it|they)\b)|save(?= (?:where|when|if|that|for|in)\b)|(?<=all )save|(?<=everyone )save"
    r"|(?<=none )save|(?<=nothing )save|(?<=all )but|(?<=everyone )but|(?<=nothing )but)\b",
    re.IGNORECASE,
)
"""Words for what limits the rest of the sentence."""
_TERMS = re.compile(
    r"\b(?:in (?:the event|cases?) of|in (?:an emergency|emergencies|exceptional|special|urgent|certain|rare)\b"
    r"|subject to"
    r"|(?:up)?on (?:request|demand|payment|presentation|production|application|receipt|prescription)"
    r"|by (?:appointment|arrangement|invitation|request)|(?:under|with(?:out)?) (?:supervision|guidance|escort)"
    r"|with (?:(?:the|an?|his|her|its|their|prior|written|valid|special|previous) ){0,3}(?:consent|permission|approval"
    r"|agreement|licen[cs]e|permit|notice|proof|prescription|certificate|reservation|tickets?)"
    r"|against (?:payment|receipt|presentation|(?:an? )?(?:deposit|fee))"
    r"|for (?:an? )(?:[a-z]+ )?(?:fee|charge|deposit|surcharge|supplement)"
    r"|at (?:low|high) (?:tide|water)|at the discretion|in (?:theory|principle)|for the time being"
    r"|temporarily|provisionally|nominally|theoretically)\b",
    re.IGNORECASE,
)
"""Terms on which something is so."""
_RATE = re.compile(
    r"\s+(?:a|an|per|each|every) (?:second|minute|hour|day|night|week|month|year|head|person|mile|kilometre|ton|acre)\b"
)
_OTHER_CLAUSE = re.compile(r";|—|, (?:and|but|or|while|whereas)\b|\b(?:and|but|or),\s*$", re.IGNORECASE)
_PROMOTED = re.compile(r",?\s+(?:who|which)\b", re.IGNORECASE)
_AND_NOT = re.compile(r"\b(?:and|but) not\b", re.IGNORECASE)
_ENDS_CLAUSE = re.compile(
    r"[;:—(]|\b(?:and|but|or|who|which|that|when|while|because|although|though|where)\b", re.IGNORECASE
)
_WHICH = re.compile(r"\s+(?:who|that|which|whose)\b", re.IGNORECASE)
_LIMITING = re.compile(r"\s+(?:of|in|to|among|that|ever|outside|within)\b", re.IGNORECASE)
_FARTHEST = 40
"""So many words behind one are looked at."""
_BEYOND = frozenset({"after", "outside", "except", "bar"})
_SIZES = frozenset({"over", "under", "above", "below", "aged", "older", "younger", "longer", "shorter"})
_DEFINITE = re.compile(r"\b(?:the|his|her|its|their|this|that)\s+(?:\w+\s+)?$", re.IGNORECASE)
_BUT_ONE = re.compile(r"[^,;]*\bbut (?:the|a|an|his|her|its|[A-Z])")
_FORBIDDING = re.compile(r"forb[aio]d\w*|ban(?:s|ned|ning)?|prohibit\w*|refus(?:e|es|ed|ing)")
_MODAL = re.compile(r"\b(?:must|may|should|shall|can|cannot|will|are|need|were entitled|were allowed)\b", re.IGNORECASE)
_WITH_ASIDE = re.compile(
    r"\b(?:and|or|but),\s+(?:if|when|where|once|unless|with|without|for|except|under|on|in winter|in summer)\b"
    r"[^,]*,\s+(?:\w+\s+){0,2}$",
    re.IGNORECASE,
)
"""Of `a map and, in winter, an ice axe` the axe is for the winter."""


def limits(both: Matched) -> Found:
    """No condition and no exception of my clause is left out."""
    told = _limit(both, _LIMIT) or _limit(both, _TERMS) or _aside(both) or _but_one(both) or _rate(both)
    return None if told is None else unsaid(told)


def _limit(both: Matched, limits: re.Pattern[str]) -> str | None:
    starts = [both.theirs[j].start for j in both.kept]
    promoted, told = _is_promoted(both), {limit[0].casefold() for limit in limits.finditer(both.text)}
    for limit in limits.finditer(both.source):
        word = limit[0].casefold()
        if word in told:
            continue
        at = bisect_left(starts, limit.start())
        if (not at and promoted) or (word == "either" and at == len(starts)):
            continue
        ends = both.theirs[both.kept[at - 1]].end if at else 0
        following = both.kept[at - 1] + 1 if at and limits is _TERMS else len(both.theirs)
        if following < len(both.theirs) and both.theirs[following].end <= limit.start():
            continue  # the terms of a word that is left out too
        between = both.source[ends : limit.start()] if at else both.source[limit.end() : starts[0]]
        if not _OTHER_CLAUSE.search(between) and not (at and _is_elsewhere(both.kept[at - 1], limit.start(), both)):
            return word
    return None


def _is_promoted(both: Matched) -> bool:
    """True if mine is what a relative clause says of its noun."""
    run = both.kept[0]
    while both.has(run + 1) and both.adjoin(run + 1):
        run += 1
    return _PROMOTED.match(both.source, both.theirs[run].end) is not None and both.has(run + 1)


def _is_elsewhere(last: int, limit: int, both: Matched) -> bool:
    """True if two words or more behind a comma are left out before the limit: it belongs to them."""
    left = [token for token in both.theirs[last + 1 :] if token.end <= limit]
    return len(left) > 1 and left[0].after_comma


def _aside(both: Matched) -> str | None:
    """An aside that limits the word behind it alone, and is left out."""
    for j in both.kept:
        found = _WITH_ASIDE.search(both.before(j)) if j else None
        if found is not None and not both.has(j - 1):
            return found[0].strip(" ,")
    return None


def _rate(both: Matched) -> str | None:
    """The time or thing for which a number is counted: `twelve million a year`."""
    for j in both.kept:
        counts = both.theirs[j].number and not both.has(j + 1)
        counted = j and both.theirs[j - 1].number and both.has(j - 1)
        found = _RATE.match(both.source, both.theirs[j].end) if counts or counted else None
        if found is not None and found[0].strip() not in both.text:
            return found[0].strip()
    return None


def _but_one(both: Matched) -> str | None:
    """The exception of `every region but the south`."""
    for j in both.kept:
        token = both.theirs[j]
        found = _BUT_ONE.match(both.source, token.end) if token.key in UNIVERSAL or token.key == "no" else None
        if found is not None and not re.search(r"\bbut\b", both.text):
            return "but"
    return None


def strengthened(both: Matched) -> Found:
    """A sentence that denies, or speaks of all, or of the first or largest, leaves out nothing that limits it: no
    `resident` of `no resident doctor`, no `of her class` of `the fastest ship of her class`."""
    for j in both.kept:
        token = both.theirs[j]
        left = _left_of(j, both)
        if left is not None:
            return "contradicted", f"the source says “{token.text}” with “{left.text}”"
    return _only(both) or _and_not(both)


def _left_of(j: int, both: Matched) -> Token | None:
    """The first word that is left out of what a word of this kind limits."""
    token = both.theirs[j]
    if token.mark == "not" or _FORBIDDING.fullmatch(token.key):
        return _left_behind(j, both)
    if token.key in UNIVERSAL:
        return _left_within(j, both)
    if token.key in SUPERLATIVES or token.key in ORDINALS:
        return _left_around(j, both)
    if token.mark == "only":
        return _left_alternative(j, both) or _left_around(j, both)
    return _left_size(j, both) or _left_of_plural(j, both) or _left_before_plural(j, both)


def _left_size(j: int, both: Matched) -> Token | None:
    """The size or age that says which: `trout over fifty centimetres`."""
    theirs = both.theirs
    if j + 2 >= len(theirs) or both.has(j + 1) or theirs[j + 1].after_comma or theirs[j].number:
        return None
    sized = theirs[j + 1].key in _SIZES and theirs[j + 2].number
    return theirs[j + 1] if sized else None


def _left_behind(j: int, both: Matched) -> Token | None:
    """The first word left out of the clause behind a denial."""
    for n in range(j + 1, min(len(both.theirs), j + _FARTHEST)):
        if both.theirs[n].after_comma or _ENDS_CLAUSE.search(both.between(n - 1, n)):
            return None
        if not both.has(n):
            definite = both.has(n - 1) and _DEFINITE.search(both.before(n - 1))
            return None if definite else both.theirs[n]
    return None


def _left_within(j: int, both: Matched) -> Token | None:
    """The first word left out between `all` and what is said of them, or of what says which."""
    theirs = both.theirs
    end = min(len(theirs), j + _FARTHEST)
    last = next((n for n in range(j + 1, end) if theirs[n].after_comma), end) - 1
    lasting = max((n for n in range(j, last + 1) if both.has(n)), default=j)
    left = next((n for n in range(j + 1, lasting) if not both.has(n)), None)
    if left is None and lasting < last and (lasting == j + 1 or _WHICH.match(both.source, theirs[lasting].end)):
        left = lasting + 1
    return None if left is None else theirs[left]


def _left_around(j: int, both: Matched) -> Token | None:
    """The ordinal before a superlative, the noun behind it, or what its noun is the first of."""
    theirs = both.theirs
    if j and not both.has(j - 1) and theirs[j - 1].key in ORDINALS and both.adjoin(j):
        return theirs[j - 1]
    n = j + 1
    while n < min(len(theirs), j + _FARTHEST) and both.has(n) and not theirs[n].after_comma:
        n += 1
    if n >= len(theirs) or both.has(n) or theirs[n].after_comma:
        return None
    between = both.between(n - 1, n)
    if theirs[n].key in _BEYOND or _WHICH.match(between):
        return theirs[n]
    near = all(both.adjoin(each) for each in range(j + 1, n))
    limits = near and _LIMITING.match(between) and not theirs[n].number
    return theirs[n] if limits or (n == j + 1 and both.adjoin(n)) else None


def _left_alternative(j: int, both: Matched) -> Token | None:
    """The word for another beside the only one: `only the clerk, or a deputy, may`."""
    for n in range(j + 1, min(both.kept[-1], j + _FARTHEST)):
        if not both.has(n) and re.search(r",\s+(?:or|and)\b", both.between(n - 1, n)):
            return both.theirs[n]
    return None


def _left_of_plural(j: int, both: Matched) -> Token | None:
    """The first word that says which of many, where a rule begins with them: `swimmers with open wounds may not`."""
    theirs = both.theirs
    plural = theirs[j].text.endswith("s") and not theirs[j].name
    if not plural or j + 1 >= len(theirs) or both.has(j + 1) or theirs[j + 1].after_comma or j >= both.kept[-1]:
        return None
    following = both.kept[bisect_left(both.kept, j) + 1]
    bare = not j and not re.match(r"\W*(?:the|these|those|his|her|its|their|our)\b", both.source, re.IGNORECASE)
    which = _WHICH.match(both.source, theirs[j].end) is not None
    return theirs[j + 1] if which or (bare and _MODAL.search(both.between(j, following))) else None


def _left_before_plural(j: int, both: Matched) -> Token | None:
    """The word that says which, where the source begins with them: `Foreign members pay a surcharge`."""
    theirs = both.theirs
    opens = j == both.kept[0] and j and theirs[j].text.endswith("s") and not theirs[j].name
    if not opens or both.source[: theirs[0].start].strip("\"'“‘( *_") or not all(map(both.adjoin, range(1, j + 1))):
        return None
    return None if any(token.number or token.mark for token in theirs[:j]) else theirs[j - 1]


def _only(both: Matched) -> Found:
    """An `only` that is left out with the word that it is about, and not in an aside."""
    theirs = both.theirs
    for j in range(both.kept[0] + 1, both.kept[-1]):
        if both.has(j) or theirs[j].mark != "only" or j + 1 >= len(theirs) or both.has(j + 1):
            continue
        first = next(n for n in range(j, -1, -1) if not n or both.has(n - 1))
        following = next(n for n in both.kept if n > j)
        if not (both.is_comma_before(first) and both.is_comma_before(following)):
            return unsaid(f"{theirs[j].text} {theirs[j + 1].text}")
    return None


def _and_not(both: Matched) -> Found:
    """Words behind `and not`, which is left out."""
    denied = _AND_NOT.search(both.source)
    if denied is None or _AND_NOT.search(both.text):
        return None
    end = denied.end()
    if both.source[end:].startswith(","):  # `and not, as many suppose, the dead`
        end = both.source.find(",", end + 1) + 1 or end
    ends = both.source.find(",", end)
    told = (both.theirs[j] for j in both.kept if both.theirs[j].start >= end)
    found = next((token for token in told if ends < 0 or token.end <= ends), None)
    return None if found is None else unsaid(f"not {found.text}")
