"""A belief, a fear, a claim or a rumour is no fact: `Many parents believe that the school will be closed` does not tell
whether it will.

It answers who asks what is believed, and by whom. What somebody says who has it from his own work or office (`The
inspector said`, `Historians believe`, `We think`) stands for the fact, unless the next sentence denies it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ai.text.meaning.otherwise.asked import Asked
from ai.text.meaning.otherwise.plans import is_planned
from ai.text.meaning.otherwise.verdicts import refutes, turns
from ai.text.support import WORD, all_roots, fold, weighed_roots
from retrieval.english.alike import and_alike
from retrieval.english.lists import word_list
from retrieval.english.stems import is_many, root_of


def any_of(words: str) -> str:
    """A pattern for any of these words."""
    return f"(?:{'|'.join(words.split())})"


_HOLDS = any_of("believes? believed thinks? thought assumes? assumed imagines? imagined supposes? supposed")
_WISHES = any_of(
    "suspects? suspected fears? feared hopes? hoped worry worries worried dreads? dreaded doubts? doubted wonders? "
    "wondered dreams? dreamed"
)
_CLAIMS = any_of("claims? claimed alleges? alleged swears? swore boasts? boasted whispers? whispered")
_SAYS = any_of("says? said maintains? maintained insists? insisted")
_SAID = any_of("said feared rumou?red claimed hoped alleged reputed whispered")
_LEGEND = any_of("legends? rumou?rs? folklore tradition gossip hearsay superstition myths?")
_RUMOURS = any_of("fears? hopes? talk beliefs? claims? story stories complaints?")
_ADVERB = any_of(
    "had has have still long now once also always often even then may might widely generally commonly locally"
)
_NO_CLAUSE = any_of("of for about at in on so up over and or by with was were is are him her them me us")
_HOLDER = r"\A\W*+(?P<holder>(?:[\w'’.-]{1,40},?\s){1,9}?)"
_WORDS = r"(?:[\w'’-]{1,40}\s){0,3}?"
_BY_SOMEBODY = re.compile(
    rf"{_HOLDER}(?:{_ADVERB}\s){{0,3}}(?:(?P<holds>{_HOLDS})|(?P<wishes>{_WISHES})(?!\sto\b)|(?P<claims>{_CLAIMS})|{_SAYS})"
    rf"\s(?!{_NO_CLAUSE}\b)(?P<said>\w.{{2,600}})",
    re.IGNORECASE | re.DOTALL,
)
_BY_NOBODY = re.compile(
    rf"{_HOLDER}(?:is|are|was|were|(?:has|have|had)\sbeen)\s(?:{_ADVERB}\s){{0,3}}"
    rf"(?:(?P<thought>believed|thought|assumed|suspected)|{_SAID})\s(?:that|to)\s(?P<said>\w.{{2,600}})",
    re.IGNORECASE | re.DOTALL,
)
_BY_LEGEND = re.compile(
    rf"\A\W*+(?:(?:according\sto|in)\s{_WORDS}{_LEGEND}\b|according\sto\s(?:some|many|locals)\b"
    rf"|{_WORDS}{_LEGEND}\s(?:has\sit|says?|said|holds?|tells?|claims?|goes)\b|the\sstory\sgoes\b"
    rf"|there\s(?:is|are|was|were|(?:has|have|had)\sbeen)\s{_WORDS}(?:{_LEGEND}|{_RUMOURS})\s(?:that|of)\b)"
    r"(?P<said>.{2,600})",
    re.IGNORECASE | re.DOTALL,
)
_CLAUSE = re.compile(r"that\b|to\s[a-z]+\s", re.IGNORECASE)
"""`claimed that`, `claims to sell the cheapest milk`; not `claimed the islands`."""
_NO_HOLDER = word_list("the a an his her their its our my this that to of in for with will would can could should")
"""Behind these it is a noun, or an infinitive: `the fear that`, `tempting to think`."""
_JOINS = word_list("who which whom whose when where because since as if although though while despite that")
"""The main clause is another one: `Halvane, who feared that`."""
_NOBODY = word_list("nobody none no neither not never")
_GENERIC = word_list(
    "some many most several few certain various people locals others everyone everybody somebody someone critics "
    "villagers neighbours neighbors residents"
)
_SELF = word_list("i we")


def _roots(words: str) -> frozenset[str]:
    return frozenset(map(root_of, word_list(words)))


_OFFICE = _roots(
    "report inquiry enquiry inspector historian scientist researcher research archaeologist expert scholar engineer "
    "geologist surveyor survey investigator police court judge jury coroner council committee government agency "
    "ministry study census record document letter manual notice author botanist biologist ecologist economist "
    "statistician specialist curator conservator architect astronomer palaeontologist linguist analyst commission "
    "board directors maker manufacturer law act rule contract treaty label scripture constitution"
)
"""Those who know it from their work or office, and what they write."""
_ASKS_BELIEF = _roots(
    "believe belief think thought say said claim fear hope worry expect expectation suspect suspicion rumour rumor "
    "legend story tradition opinion view myth superstition suppose allege plan intend intention want wish propose "
    "proposal offer predict doubt mention report according imagine assume dream feel concern idea theory argue "
    "suggest reason ask request aim try attempt promise threaten consider swear boast insist maintain hear reputed"
)


@dataclass(frozen=True, slots=True)
class Hearsay:
    """A sentence whose main clause tells what somebody holds: the words for who it is, and what is held. `weak`: it is
    rumoured or claimed; `wished`: it is feared, hoped or suspected; `believed`: it is thought so. `generic`: it is held
    by people at large, `official`: by those who know it from their work."""

    holder: str
    said: str
    weak: bool = False
    wished: bool = False
    believed: bool = False
    generic: bool = False
    official: bool = False

    @classmethod
    def of(cls, text: str) -> Hearsay | None:
        """Reads a sentence; None where it tells no such thing, or itself what came of it."""
        if turns(text):
            return None
        if legend := _BY_LEGEND.match(text):
            return cls("", legend["said"], weak=True, generic=True)
        if told := _BY_NOBODY.match(text):
            believed = told["thought"] is not None
            return cls(told["holder"], told["said"], weak=not believed, believed=believed)
        held = _BY_SOMEBODY.match(text)
        return cls._held(held) if held is not None else None

    @classmethod
    def _held(cls, held: re.Match[str]) -> Hearsay | None:
        words = [fold(word) for word in WORD.findall(held["holder"])]
        if not words or words[-1] in _NO_HOLDER or not (_NOBODY | _JOINS).isdisjoint(words):
            return None
        if held["claims"] is not None and not _CLAUSE.match(held["said"]):
            return None
        official = not _OFFICE.isdisjoint(map(root_of, words)) or not _SELF.isdisjoint(words)
        quantified = words[0] in _GENERIC or words[:2] in (["a", "few"], ["a", "number"], ["a", "lot"])
        thinks = (held["holds"] or held["wishes"] or held["claims"]) is not None
        bare = len(words) <= 2 and is_many(words[-1]) and thinks
        return cls(
            held["holder"],
            held["said"],
            weak=held["claims"] is not None,
            wished=held["wishes"] is not None,
            believed=held["holds"] is not None,
            generic=(quantified or bare) and not official,
            official=official,
        )


def tells_fact(text: str, after: Sequence[str], asked: Asked) -> bool:
    """True unless the sentence tells what somebody believes, fears, says or plans, and the question asks what is so."""
    if not _ASKS_BELIEF.isdisjoint(all_roots(asked.question)):
        return True
    if is_planned(text, asked):
        return False
    told = Hearsay.of(text)
    if told is None or not _is_held(told, asked):
        return True
    if told.generic or told.wished or ((told.believed or told.weak) and after and refutes(after[0], told.said)):
        return False
    return told.official or not (told.weak or (told.believed and asked.is_yes_or_no))


def answer_behind(text: str, after: Sequence[str], asked: Asked) -> str:
    """The sentence right behind that denies what this one tells as believed or said, where the question asks whether it
    is so; else empty."""
    told = Hearsay.of(text) if asked.is_yes_or_no and after else None
    if told is None or not refutes(after[0], told.said) or Hearsay.of(after[0]) is not None:
        return ""
    return "" if tells_fact(text, after, asked) else after[0]


def _is_held(told: Hearsay, asked: Asked) -> bool:
    """True if the question asks about what is held, and not about who holds it."""
    roots, said = and_alike(asked.roots), weighed_roots(told.said)
    held = len(roots & said)
    return held > 0 and (asked.deed in and_alike(said) or held >= len(roots & weighed_roots(told.holder)))
