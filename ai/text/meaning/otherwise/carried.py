"""Clauses with subjects of their own: nothing that one says is carried over to the subject of another. `A strimmer and
two wheelbarrows were stolen; the wheelbarrows were later found` does not tell where the strimmer was found."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ai.text.meaning.deeds.clause import HELPER
from ai.text.meaning.otherwise.asked import Asked
from ai.text.meaning.otherwise.ellipsis import is_elliptical
from ai.text.question_type import denies
from ai.text.support import WORD, fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_past, root_of

_CLAUSES = re.compile(
    r";\s|,\s(?:and|but|while|whereas|so|though|although|yet)\s|\s(?:while|whereas|but)\s", re.IGNORECASE
)
_HELPS = re.compile(rf"(?:{HELPER}|be|been|being|to|not|never)\Z", re.IGNORECASE)
_AGAINST = re.compile(r"\b(?:but|while|whereas|though|although|yet)\b", re.IGNORECASE)
_ADVERBS = word_list("later then also first soon now both all only still once again even always often too just since")
_MEANS = word_list(
    "it they them he she him her his its their who which that whom whose these those this one ones both each all none "
    "i we you us everything everyone everybody nobody neither either latter former same there "
    "others other idea thing matter"
)
"""Words by which a clause may mean what another one names."""
_DETERMINES = word_list(
    "the a an his her its their our my your this that these those two three four five six seven eight nine ten some "
    "many several few no every each another"
)
_PLACED = word_list("in on at by after before during since from near of for with under over")


def has_subject(text: str, asked: Asked) -> bool:
    """True unless every clause that says the deed has a subject of its own, and the one asked about is named in another
    clause alone."""
    if not asked.head or not asked.says_deed:
        return True
    clauses, joins = _CLAUSES.split(text), ["", *_CLAUSES.findall(text)]
    if len(clauses) < 2:
        return True
    heads, deeds = and_alike({asked.head}), and_alike({asked.deed})
    read = [[fold(word) for word in WORD.findall(clause)] for clause in clauses]
    rooted = [[root_of(word) for word in words] for words in read]
    telling = [n for n, roots in enumerate(rooted) if not deeds.isdisjoint(roots)]
    named = [n for n, roots in enumerate(rooted) if not heads.isdisjoint(roots)]
    if not telling or not named or not set(telling).isdisjoint(named):
        return True
    if any(_goes_with(clauses[n], read[n], joins[n], behind=n > min(telling)) for n in named):
        return True
    return not all(_is_of_another(clauses[n], deeds, asked) for n in telling)


def _goes_with(clause: str, words: Sequence[str], join: str, *, behind: bool) -> bool:
    """True if a clause shares the verb of the one before (`the basses by train`, `meals are not`), or sets against that
    what is so of the one asked about (`but the counter is kept`)."""
    if behind and (denies(clause) or _AGAINST.search(join)):
        return True
    whole = any(_HELPS.match(word) or is_past(word) for word in words) and not is_elliptical(clause)
    return not whole


def _is_of_another(clause: str, deeds: frozenset[str], asked: Asked) -> bool:
    """True if a clause, which does not name the one asked about, says the deed of a subject that it names itself."""
    said = [*WORD.finditer(clause)]
    words = [fold(word[0]) for word in said]
    if not _MEANS.isdisjoint(words):
        return False
    at = next((n for n, word in enumerate(words) if root_of(word) in deeds and _is_verb(words, n, asked.verb)), 0)
    while at and (_HELPS.match(words[at - 1]) or words[at - 1] in _ADVERBS or words[at - 1].endswith("ly")):
        at -= 1
    if not at or words[at - 1] in UNWEIGHED_WORDS or clause[said[at - 1].end() : said[at].start()] != " ":
        return False  # it goes on with the subject of the clause before
    start = next((n for n in range(at - 1, -1, -1) if words[n] in _DETERMINES), 0)
    if start == 1 and words[0] in _PLACED:
        return False  # `and in that year was sold`
    return words[start] in _DETERMINES or words[at - 1].endswith("s") or said[at - 1][0][0].isupper()


def _is_verb(words: Sequence[str], at: int, verb: str) -> bool:
    """True if the word is a form of a verb there, and no noun of its root."""
    word = words[at]
    helped = bool(at) and _HELPS.match(words[at - 1]) is not None
    present = {f"{verb}s", f"{verb}es", *([verb] if verb.endswith("s") else [])}
    return is_past(word) or word in present or (helped and (word == verb or word.endswith("ing")))
