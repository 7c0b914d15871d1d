"""The effect that the small words of a source sentence, and those that a sentence leaves out of it, have on the words
that it keeps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ai.answer.claims.lexicon import PRONOUNS, REPORTING
from ai.answer.claims.matched import Found, Matched, Placed
from ai.answer.claims.tokens import Token
from ai.text.support import WORD, fold
from retrieval.english.lists import DATES, word_list

_BE = re.compile(r"\b(?:was|were|is|are|been|be|being)\b[^,;]{0,40}$", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_BY = re.compile(r"\bby\b", re.IGNORECASE)
_SUBJECT = re.compile(r"\b(?:this|that|these|those|it|they|he|she|we|I|you|there)\s+(?!of\b)[^\W\d_]")
"""A subject without a word of its own."""
OPENS = re.compile(r"\W*(this|that|these|those|it|they|he|she|we|I|you|there)\b", re.IGNORECASE)
"""The pronoun that a sentence opens with."""
GOVERNING = word_list(
    "against before after above below under over beyond behind beside besides despite except unlike near between until "
    "unless since around outside about off across along past"
)
"""Words before a name or thing without which it has another part in what is said."""
_UNDOING = word_list(
    "nearly almost virtually practically former formerly alleged allegedly supposed supposedly proposed intended "
    "attempted potential mock unofficial"
)
"""Words without which what follows would be more than is said."""
_OPPOSED: Sequence[set[str]] = ({"from", "to"}, {"by", "to"})
"""Roles that no word has in other words: what rose by a third did not rise to a third."""
_LISTED = re.compile(r"^(?:[\s,]|and\b|or\b|the\b|[^\W\d_a-z][\w.'’-]*+)*+$")

_WHO = re.compile(r"(?:\s*\([^()]*\))?,?\s+(?:who|which)\b", re.IGNORECASE)
_AFTER_YEARS = 2200
_PAUSES = re.compile(r"[.,;:—–()]")


def pronouns(both: Matched) -> Found:
    """My pronouns are those of the source, in its order; `it` or `they` may open a sentence in place of a noun."""
    told, said = _persons(both.source), _persons(both.text)
    opens = next(iter(WORD.findall(both.text)), "")
    if said and not (told and told[0][1] == said[0][1]) and fold(opens) in ("it", "they") and not _opened(both.source):
        said = said[1:]
    left = iter(told)
    for word, person in said:
        if not any(person == other for _, other in left):
            return "not_in_source", f"the source does not say “{word}”"
    return None


def _opened(source: str) -> bool:
    """True if the source sentence opens with a pronoun."""
    return fold(next(iter(WORD.findall(source)), "")) in PRONOUNS


def _persons(text: str) -> list[tuple[str, str]]:
    words = [w for w in WORD.findall(text) if not (w.isupper() and len(w) > 1)]
    return [(word, PRONOUNS[low]) for word in words if (low := fold(word)) in PRONOUNS]


def denials(both: Matched) -> Found:
    """A denial, a quantity or a mode of the source that my words stand under, and that I leave out."""
    theirs, taken, first, last = both.theirs, both.taken, both.kept[0], both.kept[-1]
    for j, token in enumerate(theirs):
        if j in taken or j > last:
            continue
        if token.mark in ("not", "said", "may", "would"):
            if _governs(j, first, theirs, taken):
                return "contradicted" if token.mark == "not" else "not_in_source", f"the source says “{token.text}”"
            continue
        following = j + 2 if j + 2 < len(theirs) and token.mark == "few" and theirs[j + 1].key == "any" else j + 1
        if following in taken and (token.key in _UNDOING or (token.mark and not theirs[following].number)):
            return "not_in_source", f"the source says “{token.text} {theirs[following].text}”"
    before = [t for j, t in enumerate(theirs) if j < first and t.key in REPORTING]
    if before:
        return "not_in_source", f"in the source it is what someone “{before[-1].text}”"
    return None


def _governs(j: int, first: int, theirs: Sequence[Token], taken: frozenset[int]) -> bool:
    """True if a mark of the source governs words that are mine: nothing closes its clause before the next of them."""
    following = next((k for k in range(j + 1, len(theirs)) if k in taken), None)
    if following is None:
        return False
    if j < first:
        return not any(theirs[k].after_comma for k in range(j + 1, following + 1))
    preceding = next((k for k in range(j - 1, -1, -1) if k in taken), None)
    between = [theirs[k] for k in range((preceding or 0) + 1, following + 1)]
    inside_aside = len([t for t in between if t.after_comma]) >= 2
    return not inside_aside


def roles(both: Matched) -> Found:
    """Names and numbers keep the role that their preposition gives; what belongs to a name is not said of the name."""
    mine, theirs, placed, source = both.mine, both.theirs, both.placed, both.source
    subjects = subjects_behind(both)
    for i, j in placed.items():
        a, b = mine[i], theirs[j]
        if i in subjects and not a.role:
            continue
        if {a.role, b.role} in _OPPOSED:
            return "contradicted", f"“{a.text}” has another role in the source"
        if not (a.name or a.number) or a.mark:
            continue
        if a.role and b.role and _group(a.role) != _group(b.role):
            return "contradicted", f"“{a.text}” has another role in the source"
        lost = not a.role and b.role in ("from", "to", "by", "with")
        if lost and not (_passive(source, b) and _comes_first(i, j, placed)):
            return "contradicted", f"“{a.text}” has another role in the source"
        if b.owns and not a.owns and j + 1 < len(theirs) and j + 1 not in both.taken:
            return "not_in_source", f"the source says it of “{b.text}'s {theirs[j + 1].text}”"
        if not a.role and b.role == "of" and j and j - 1 not in both.taken and not theirs[j - 1].name and i == 0:
            return "not_in_source", f"the source says it of the “{theirs[j - 1].text}” of “{b.text}”"
    return None


def subjects_behind(both: Matched) -> frozenset[int]:
    """My names that are the subject of a clause which a relative pronoun opens behind them in the source, where mine
    says of them what that clause does: of `to Per Holm, who sang` that Per Holm sang."""
    mine, theirs, placed = both.mine, both.theirs, both.placed
    found: set[int] = set()
    for i in sorted(placed, reverse=True):
        j, next_j = placed[i], placed.get(i + 1)
        if not (mine[i].name and theirs[j].name) or next_j is None:
            continue
        goes_on = i + 1 in found and next_j == j + 1
        if goes_on or (next_j > j and not mine[i + 1].opener and _WHO.match(both.source, theirs[j].end)):
            found.add(i)
    return frozenset(found)


def parts(both: Matched) -> Found:
    """The doer of a deed stays its doer, and a word such as `against` stays before what it governs."""
    theirs, placed, source = both.theirs, both.placed, both.source
    for i, j in placed.items():
        a, b = both.mine[i], theirs[j]
        acts = not a.role and b.role == "by" and _passive(source, b)
        if acts and (_BY.search(both.text) or not _comes_first(i, j, placed)):
            return "contradicted", f"“{a.text}” has another role in the source"
        if j and j - 1 not in both.taken and theirs[j - 1].key in GOVERNING and _adjoin(source, theirs, j):
            return "not_in_source", f"the source says “{theirs[j - 1].text} {b.text}”"
    return None


def _adjoin(source: str, theirs: Sequence[Token], j: int) -> bool:
    """True if nothing but small words stand between a word and the one before it."""
    return _PAUSES.search(source, theirs[j - 1].end, theirs[j].start) is None


def _comes_first(i: int, j: int, placed: Placed) -> bool:
    """True if what the source has before `by` follows the agent in mine."""
    before = [n for n, k in placed.items() if k < j]
    return bool(before) and i < min(before)


def _group(role: str) -> str:
    return "at" if role == "of" else role


def _passive(text: str, token: Token) -> bool:
    return _BE.search(text[: token.start]) is not None


def gaps(both: Matched) -> Found:
    """A word that the sentence leaves out must not be another name or number where one of mine follows, nor the subject
    or the time of what follows: then mine belongs to other words."""
    theirs, source, kept = both.theirs, both.source, both.kept
    opened = _of_another_subject(both)
    if opened is not None:
        return opened
    names = {j for i, j in both.placed.items() if both.mine[i].name or both.mine[i].number}
    for before, after in pairwise(kept):
        left = [theirs[k] for k in range(before + 1, after)]
        if not left:
            continue
        if _SUBJECT.search(source, left[-1].end, theirs[after].start) and after not in names:
            return "not_in_source", f"in the source “{theirs[after].text}” has a subject of its own"
        clause = _of_another_clause(left, theirs[after], [theirs[k] for k in kept if k <= before])
        if clause is not None:
            return clause
        rivals = [t for t in left if (t.number if theirs[after].number else t.name)]
        if theirs[after].opener and all(map(_says_when, left)) and not _says_when(theirs[after]):
            continue  # `born on 3 November 1884 in Hallenburg`: the place is not the day's
        if after in names and rivals and not _LISTED.match(source[theirs[before].end : theirs[after].start]):
            return "not_in_source", f"in the source “{theirs[after].text}” follows on “{left[-1].text}”"
    for j in kept[1:]:
        opens = theirs[j].number and theirs[j].after_comma and theirs[j].role and j + 1 < len(theirs)
        if opens and j + 1 not in both.taken and not theirs[j + 1].after_comma:
            return "not_in_source", f"in the source “{theirs[j].text}” is the time of “{theirs[j + 1].text}”"
    return None


def _says_when(token: Token) -> bool:
    return token.key in DATES or (token.number and token.text.isdigit() and int(token.text) < _AFTER_YEARS)


def _of_another_subject(both: Matched) -> Found:
    """My sentence begins with a word for something else, and in the source other words stand between that word and the
    first of mine: then mine may be said of them."""
    opens = OPENS.match(both.text)
    if opens is None:
        return None
    theirs, source, at = both.theirs, both.source, both.kept[0]
    first = theirs[at].start
    word = opens[1].casefold()
    said = [m.end() for m in _WORD.finditer(source, 0, first) if m[0].casefold() == word]
    between = [t for t in theirs[:at] if said and t.start >= said[-1]]
    subject = said and _SUBJECT.search(source, said[-1], first)
    if subject or any(token.name and not token.role for token in between):
        return "not_in_source", f"in the source “{theirs[at].text}” is not said of “{opens[1]}”"
    return None


def _of_another_clause(left: Sequence[Token], after: Token, before: Sequence[Token]) -> Found:
    """The words that were left out open a clause that what follows belongs to: by its subject, or by its time where my
    sentence has kept another time."""
    if after.after_comma:
        return None
    subject = next((t for t in left if t.after_comma and not t.role and not t.mark), None)
    if subject is not None and not subject.key.endswith("ly"):
        return "not_in_source", f"in the source “{after.text}” is said of “{subject.text}”"
    time = next((t for t in left if t.after_comma and t.number and t.role), None)
    if time is not None and any(t.number and t.role for t in before):
        return "not_in_source", f"in the source “{after.text}” has the time “{time.text}”"
    return None
