"""The kind of thing that a question asks for: by its noun (`Which firm ...?`), by its name (`What is the boat
called?`), or in a unit (`in euros`). A sentence that has the other words and nothing of the kind does not answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ai.text.amounts import amounts_of, unit_of
from ai.text.support import all_roots, fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import DATES, MONTHS, UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_past, root_of

_WHICH = re.compile(
    r"(?:\b(?P<by>in|at|to|by|from|for|with|on|of|under|into|through|against)\s)?\b(?P<asks>which|what)\s"
    r"(?P<rest>[a-z][\w'’-]*(?:\s[\w'’-]+){0,5})",
    re.IGNORECASE,
)
_HELPERS = word_list(
    "is are was were be been do does did has have had can could will would shall should may might must cannot"
)
_ENDS_NOUN = _HELPERS | word_list(
    "the a an his her its their our my your this that these those in on at to for from by with of about and or not "
    "each every all it he she they we you i who which there"
)
_NO_NOUN = word_list(
    "other else one ones way kind type sort time times year years date dates day days month months week weeks hour "
    "decade century season ratio name names title word words term terms number amount percentage percent proportion "
    "share "
    "colour color size age height length depth width weight temperature speed price cost fee rate reason reasons "
    "cause purpose thing things part parts effect role language happens happened order direction side"
)
"""Nouns that other rules ask for, or that an answer seldom says."""
_NAMED = word_list(
    "firm company business manufacturer supplier brand publisher agency organisation organization association "
    "society institution institute foundation charity union department ministry council school college university "
    "academy hospital clinic museum gallery library theatre theater orchestra band choir team club league party "
    "newspaper magazine journal book novel poem play film movie song opera album ship boat street road avenue square "
    "hotel inn pub bar restaurant café cafe shop church chapel cathedral abbey castle palace bank insurer airline "
    "architect artist author writer poet composer painter sculptor engineer scientist king queen emperor president "
    "minister mayor bishop saint prize award medal festival village island lake mountain hill bridge station airport "
    "harbour harbor port park bakery brewery contractor builder consultant person man woman "
    "state country county town city region province district river continent"
)
"""Kinds of which one is told by its name, or said to be one."""
_NAMED_ROOTS = frozenset(map(root_of, _NAMED))
_CALLED = re.compile(
    r"\A\W*(?:what|how)\s(?:is|was|are|were|do\s\w+\scall|did\s\w+\scall)\b.{0,80}?\b(?:called|named|nicknamed|known\sas)\W*\Z"
    r"|\A\W*what(?:['’]s|\s(?:is|was|are|were))\s(?:the\s)?names?\sof\b"
    r"|\A\W*what(?:['’]s|\s(?:is|was|are|were))\s(?:the\s|his\s|her\s|its\s|their\s)?(?:[\w'’-]+\s){0,4}(?:['’]s\s|(?<=s['’]\s))names?\W*\Z"
    r"|\A\W*what(?:['’]s|\s(?:is|was|are|were))\s(?:[\w'’-]+\s){0,4}[\w-]+['’]s\sname\W*\Z",
    re.IGNORECASE,
)
_IN_UNIT = re.compile(r"\b(?:in|of)\s(?P<unit>[a-z€$£]+)\W*\Z", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"\A\W*what(?:['’]s|\s(?:is|was|are|were))\s(?:the|his|her|its|their|our|your|my)\s(?:[a-z-]+\s){0,2}?(?P<noun>[a-z-]+)"
    r"\s(?:of|for)\s",
    re.IGNORECASE,
)
_WHICH_DAY = re.compile(r"\b(?:which|what)\s(?:day|date|weekday)\b", re.IGNORECASE)
_WHICH_DATE = re.compile(r"\b(?:which|what)\sdate\b", re.IGNORECASE)
_A_DATE = re.compile(r"(?<![\d,.])(?:1\d|20)\d\d(?!\d|[,.]\d)|\b(?:" + "|".join(MONTHS) + r")\b", re.IGNORECASE)
_A_DAY = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b\d{1,2}(?:st|nd|rd|th)?\b|\b(?:first|second|third|fourth|fifth|sixth"
    r"|seventh|eighth|ninth|tenth|\w+teenth|twelfth|twentieth|thirtieth|last|daily|eve|christmas|easter|day)\b",
    re.IGNORECASE,
)
_HOW = re.compile(r"\bhow\b|\bwhat\s(?:is|was|are|were)\b", re.IGNORECASE)
_WORD = re.compile(r"(?<![\w'’-])[^\W\d_][\w'’-]*")
_QUOTED = re.compile(r"[\"“‘][^\"”’]{2,60}[\"”’]")
_FIRST_NAME = re.compile(
    r"\A\W*[A-Z][\w'’-]*(?=,?\s(?:[A-Z]|(?:was|is|were|had|has|became|came|went|took|made|led|\w+ed)\b))"
)
_TERM = re.compile(
    r"\b(?:called|named|termed|dubbed|nicknamed|titled|entitled|(?:known|referred\sto)\sas|such\sas|e\.g\.|i\.e\.)|\([a-z]",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\b[a-z]{3,}\s\d{1,3}\b")
"""`bridge 12` has a number for a name."""
_WHO_DID = re.compile(r"\b(?:the|an?)\s(?P<noun>[a-z]+)\s(?:who|that|which)\s(?P<deed>[a-z]+)\b", re.IGNORECASE)
_BEHIND = re.compile(
    r"\b(?:in|at|to|by|from|for|with|on|of|under|into|through|against|near|joined|attended|entered|left)\s"
    r"(?:the\s|an?\s)?(?:[a-z][\w'’-]*\s){0,3}(?:[A-Z][\w'’.-]*\s){0,4}\Z"
)


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind asked for. `noun`: the root of the noun after `which` or `what`; `held`: whether it follows `which` and
    the sources say it; `named`: whether one of the kind is told by its name; `by`: the preposition before `which`;
    `calls`: whether a name is asked for; `unit`: the dimension of the unit that is named; `attribute`: the roots by
    which the sources say what is asked of something (`the fine for ...`); `day`: whether a day is asked for; `dated`:
    whether a month or a year is enough; `said`: the roots of all words of the question."""

    noun: str
    held: bool
    named: bool
    by: str
    calls: bool
    unit: str | None
    attribute: frozenset[str]
    day: bool
    dated: bool
    said: frozenset[str]

    @classmethod
    def of(cls, question: str, vocabulary: frozenset[str]) -> Kind:
        """The kind that a question asks for, given the words of the sources."""
        noun, by, asks = _noun(question)
        unit = _IN_UNIT.search(question) if _HOW.search(question) else None
        roots = frozenset(map(root_of, vocabulary)) if noun else frozenset[str]()
        return cls(
            root_of(noun) if noun else "",
            asks == "which" and root_of(noun) in roots,
            root_of(noun) in _NAMED_ROOTS,
            by,
            _CALLED.search(question) is not None,
            unit_of(fold(unit["unit"])) if unit else None,
            _attribute(question),
            _WHICH_DAY.search(question) is not None,
            _WHICH_DATE.search(question) is not None,
            all_roots(question),
        )

    def agrees(self, text: str, own: frozenset[str]) -> bool:
        """True unless the sentence, of the roots `own` with those of its title, has nothing of the kind."""
        if self.unit is not None and all(each.dimension != self.unit for each in amounts_of(text)):
            return False
        if self.attribute and own.isdisjoint(self.attribute):
            return False
        if self.day and not (_A_DAY.search(text) or (self.dated and _A_DATE.search(text))):
            return False
        if self.calls and not (_TERM.search(text) or _names(text, self)):
            return False
        return not self.noun or self._is_one(text, own)

    def _is_one(self, text: str, own: frozenset[str]) -> bool:
        if not own.isdisjoint(and_alike({self.noun})):
            return not self.named or bool(_TERM.search(text)) or _names(text, self) or _LABEL.search(text) is not None
        if self.named:
            return _names(text, self, self.by)
        return not self.held or (_names(text, self) and not self._is_of_another(text))

    def _is_of_another(self, text: str) -> bool:
        """True if what did the deed is said to be something else: `the cat that stayed longest`."""
        return any(
            root_of(fold(found["deed"])) in self.said and root_of(fold(found["noun"])) not in self.said
            for found in _WHO_DID.finditer(text)
        )


def _names(text: str, kind: Kind, by: str = "") -> bool:
    """True if the text has a name that the question lacks; `by`: one behind a preposition."""
    if _QUOTED.search(text):
        return True
    first = _FIRST_NAME.match(text)
    for found in _WORD.finditer(text):
        word = fold(found[0])
        if not found[0][0].isupper() or root_of(word) in kind.said or word in DATES or word in UNWEIGHED_WORDS:
            continue
        before = text[: found.start()]
        if not before.strip(' "“‘(') and first is None:
            continue
        if not by or _BEHIND.search(before):
            return True
    return False


def _attribute(question: str) -> frozenset[str]:
    found = _ATTRIBUTE.match(question)
    noun = fold(found["noun"]) if found else ""
    if not noun or noun in _NO_NOUN or noun in UNWEIGHED_WORDS:
        return frozenset()
    return and_alike({root_of(noun)})


def _noun(question: str) -> tuple[str, str, str]:
    """The noun after `which` or `what`, the preposition before, and which of the two it is; empty without one."""
    found = _WHICH.search(question)
    if found is None:
        return "", "", ""
    words = [fold(word) for word in found["rest"].split()]
    end = next((n for n, word in enumerate(words) if word in _ENDS_NOUN), len(words))
    said, helped = words[:end], end < len(words) and words[end] in _HELPERS
    if not said or (end < len(words) and words[end] == "of"):
        return "", "", ""
    if not helped:
        verb = next((n for n, word in enumerate(said) if n and is_past(word)), None)
        said = said[:verb] if verb is not None else said[:1] if said[1:] and found["by"] is None else said
    return ("", "", "") if said[-1] in _NO_NOUN else (said[-1], fold(found["by"] or ""), fold(found["asks"]))
