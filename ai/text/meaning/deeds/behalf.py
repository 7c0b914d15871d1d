"""The side for which somebody did something: who signed for the town did not sign for the company, and the nation that
signed a treaty is not who signed it for the other side."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ai.text.leaning import means_another
from ai.text.support import WORD, fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import root_of

_FOR = r"(?:for|against|on\s(?:the\s)?behalf\sof|in\s(?:the\s)?name\sof|on\sthe\s(?:side|part)\sof)"
_ENDS = r"(?!(?:in|on|at|by|to|from|of|and|with|for|against)\b)"
_PARTY = rf"(?:the\s|its\s|his\s|her\s|their\s|our\s)?(?P<party>{_ENDS}[\w'’-]++(?:\s{_ENDS}[\w'’-]++){{0,3}})"
_ASKED = re.compile(rf"\A\W*(?:who|which\s[\w'’-]+|whom)\s.{{1,120}}\b(?P<side>{_FOR})\s{_PARTY}", re.IGNORECASE)
_DEEDS = re.compile(
    r"\b(?:sign|speak|spoke|vot|appear|act|negotiat|argu|plead|stood|stand|play|scor|fight|fought|work|appl|present|testif"
    r"|campaign|lobb|bid|bargain|sat|sit|serv|rac|row|ran|run|compet|object|petition|attend|deal|dealt|answer|paid|pay)",
    re.IGNORECASE,
)
_STANDS_FOR = re.compile(
    r"\b(?:sign|negotiat|conclud|speak|spoke|appear|act(?:s|ed|ing)?\b|plead|argu)|\b(?:behalf|name|side|part)\sof\b",
    re.IGNORECASE,
)
"""Deeds that are done for one side: who did it is told together with the side."""
_SIGNED_WITH = re.compile(
    rf"\A\W*(?:who|which\s[\w'’-]+)\s(?:else\s)?(?:sign|conclud|negotiat|made|ma[dk]e)\w*\s.{{1,120}}\bwith\s{_PARTY}",
    re.IGNORECASE,
)
_SIGNS = re.compile(
    r"\A(?P<doer>[^\w'’-]*+(?:[\w'’-]++\s){1,5}?)(?:sign|conclud|negotiat|made\b|ma[dk]e)", re.IGNORECASE
)
_INITIALS = re.compile(r"\b(?:[A-Z]\.){2,6}")
_HOW_LONG = frozenset(
    map(
        root_of,
        word_list(
            "minute hour day night week month year decade century season time first last once two three four five six "
            "seven eight nine ten twelve while long ever life money pounds dollars example instance sale"
        ),
    )
)
"""`for the first time`, `for ten years`: no side."""
_TOLD = re.compile(rf"\b(?P<side>{_FOR})\s{_PARTY}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Behalf:
    """The side for which, or against which, it is asked who did something: the roots of its words; empty where that is
    not asked."""

    party: frozenset[str] = frozenset()
    against: bool = False
    stands_for: bool = False
    other: frozenset[str] = frozenset()

    @classmethod
    def of(cls, question: str) -> Behalf:
        """Reads the question. `stands_for`: the side belongs to the deed; `other`: with whom it is asked that somebody
        signed."""
        question = _plain(question)
        found = _ASKED.match(question) if _DEEDS.search(question) else None
        if found is not None:
            against = _is_against(found["side"])
            return cls(_roots(found["party"]), against, not against and _STANDS_FOR.search(question) is not None)
        signed = _SIGNED_WITH.match(question)
        return cls(other=_roots(signed["party"])) if signed is not None else cls()

    def agrees(self, text: str, own: frozenset[str]) -> bool:
        """True unless the sentence, of the roots `own` with those of what it leans on, says for whom or against whom it
        was done, and never for this side; or says nothing of the side that belongs to the deed; or has the other side
        sign alone."""
        if self.other:
            doer = _SIGNS.match(text)
            return doer is None or not (_roots(doer["doer"]) and _roots(doer["doer"]) <= self.other)
        if not self.party:
            return True
        text, alike = _plain(text), and_alike(self.party)
        # a title may name all sides; what a pronoun leans on names the one
        if self.stands_for and alike.isdisjoint(own if means_another(text) else _roots(text)):
            return False
        told = [(_is_against(found["side"]), _roots(found["party"])) for found in _TOLD.finditer(text)]
        sides = [(against, party) for against, party in told if party and party.isdisjoint(_HOW_LONG)]
        return not sides or any(against == self.against and not alike.isdisjoint(party) for against, party in sides)


def _is_against(side: str) -> bool:
    return side.casefold() == "against"


def _roots(said: str) -> frozenset[str]:
    """The roots of the words, with the initials of those that are a name: `US` is the United States."""
    words = [word for word in WORD.findall(said) if word.isupper() or fold(word) not in UNWEIGHED_WORDS]
    initials = "".join(word[0] for word in words if word[0].isupper()).casefold()
    roots = {root_of(fold(word)) for word in words}
    return frozenset({*roots, initials} if len(initials) > 1 else roots)


def _plain(text: str) -> str:
    """The text with initials without their points: `U.S.`"""
    return _INITIALS.sub(lambda found: found[0].replace(".", ""), text)
