"""The kind of thing that the question word asks for: a date, a number, a person, a place."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

from ai.text.amounts import WHAT_HEAT, WHAT_PRICE, states_amount, wanted_amount
from ai.text.support import fold, roots_of, words_of
from retrieval.english.lists import MONTHS
from retrieval.english.stems import root_of


class WantedKind(Enum):
    """The kind of thing that an answer must name."""

    ANY = "any"
    TIME = "time"
    NUMBER = "number"
    PERSON = "person"
    PLACE = "place"


_ASKS = (
    (
        WantedKind.NUMBER,
        re.compile(
            r"\bhow (?:many|much|far|large|big|tall|long|old|deep|high|wide|thick|heavy|hot|cold|warm|soon|often"
            r"|frequently)\b",
            re.IGNORECASE,
        ),
    ),
    (WantedKind.NUMBER, WHAT_HEAT),
    (WantedKind.NUMBER, WHAT_PRICE),
    (
        WantedKind.TIME,
        re.compile(
            r"^\W*(?:\w+\s+)?when\b|\b(?:what|which) (?:year|date|day|month|decade|century|time)\b"
            r"|\bwhat (?:is|was|were) the (?:exact )?(?:years?|dates?|days?|months?|times?)\b",
            re.IGNORECASE,
        ),
    ),
    (WantedKind.PERSON, re.compile(r"^\W*(?:\w+\s+)?(?:who|whom|whose)\b", re.IGNORECASE)),
    (
        WantedKind.PLACE,
        re.compile(
            r"^\W*(?:\w+\s+)?where\b"
            r"|\b(?:what|which) (?:county|city|town|state|country|place|location|fort|river)\b",
            re.IGNORECASE,
        ),
    ),
)
_TIME = re.compile(
    r"(?<![\d,.])(?:1[0-9]|20)\d\d(?!\d|[,.]\d)|\b(?:" + "|".join(month for month in MONTHS if month != "may") + "|"
    r"spring|summer|autumn|winter|century|yesterday|decade)\b|\b\d{1,2}/\d{1,2}/\d{2,4}\b|\bMay \d",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|"
    r"nineteen|twenty|thirty|"
    r"forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?|dozens?|half|none|once|twice)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(r"[^\W\d_]+")
_LEADS = re.compile(r"\W*([A-Z][\w'’-]+)(?=\s+(?:[A-Z]|(?:was|is|were|had|became|came|went|took|made|led|\w+ed)\b))")
_AT = re.compile(
    r"\b(?:in|at|near|on|from|to|of|by|through|across|along|into|within|between|around|over|up|down|off|toward|towards|under|behind|beside|above|below|opposite)\s+(?:the\s+)?(?:[A-Z][\w.'’-]*)"
)
_PATH = re.compile(r"\b(?:in|to|at|on|from|under|into)\s(?:~?/|[A-Za-z]:\\|\$?\{?[A-Z_]{3,}\}?/|[a-z]{2,5}://)\.?\w")
"""A place in a computer: `/etc/keeper.conf`."""
_IN_A = re.compile(
    r"\b(?:in|into|at|on|onto|near|inside|under|behind|beside)\s+(?:an?|the|their|his|her|our|my|its)\s+[a-z]"
    r"|\bon\s(?:deck|board|land|shore|foot|site|stage|campus)\b|\bat\s(?:home|sea|school|work|church|anchor|reception)\b"
    r"|\bin\s(?:port|prison|hospital|bed|church|school|storage|dock)\b"
)

_FROM = re.compile(
    r"\bfrom\W*\Z|\bwhere\s(?:is|are|was|were)\s(?:the|my|your|our|its)\s[\w'’ -]{1,40}\Z|^\W*from where\b",
    re.IGNORECASE,
)
_FROM_A = re.compile(r"\b(?:from|out of)\s(?:an?|the|their|his|her|our|my|its)\s[a-z]")
_WHEN = re.compile(
    r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2} ?[ap]\.?m\b"
    r"|\b(?:noon|midnight|dawn|dusk|sunrise|sunset|night|morning|afternoon|evening)\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\bon\s(?:the\s)?\d{1,2}(?:st|nd|rd|th)\b"
    r"|\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|next|same|\d{1,2}(?:st|nd|rd|th)) "
    r"(?:hour|day|week|month|quarter|year|season)\b"
    r"|\b(?:before|after|within|every|until|for|at least|at most|once|when|as soon as|during|whenever|while)\b"
    r"|\b(?:on|at|upon|by)\s(?:(?:the|its|their|his|her|our|your|each|every)\s)?(?:very\s)?(?:first|last|next|start|beginning"
    r"|end|close|arrival|departure|entry|delivery|receipt|completion|signing|signature|request|demand|payment|installation"
    r"|birth|death)\b",
    re.IGNORECASE,
)
"""Times that have no date; a condition is one too."""
_RULED = re.compile(r"^\W*(?:\w+\s+)?when\s+(?:may|can|could|must|should|do|does|will|is|are)\b", re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:if|unless|provided that|in case)\b", re.IGNORECASE)
"""Anything that holds by a rule holds under a condition."""
_DOER = re.compile(
    r"(?:The|An?|Each|Every|All|Any|Our|Its|His|Her|Their|Only)\s(?P<doer>(?:[a-z][\w'’-]*\s){1,4}?)"
    r"(?:(?:can|could|may|might|must|should|shall|will|would|has|have|had|is|are|was|were)\s)?(?P<deed>[a-z][\w'’-]*(?:\s[a-z]\w+)?)\b"
)
_BY = re.compile(r"\bby\s(?:the|an?|its|his|her|their|our|each|any)\s(?P<doer>[a-z][\w'’-]*)")
_DENIES = re.compile(
    r"\b(?:not|never|no(?!\.)|none|nobody|nothing|neither|nor|without|cannot)\b|n['\u2019]t\b"
    r"|\b(?:except|excepting|excluding|besides|other than|(?:apart|aside) from|but for)\b",
    re.IGNORECASE,
)


_WHY = re.compile(r"\W*(?:why|for what reason)\b", re.IGNORECASE)


def asks_why(question: str) -> bool:
    """True if it opens by asking for a reason."""
    return _WHY.match(question) is not None


def denies(text: str) -> bool:
    """True if the text denies something or makes an exception."""
    return _DENIES.search(text) is not None


_GIVES_REASON = (
    r"because|since|due|owing|thanks|so|therefore|thus|hence|caus(?:e|es|ed|ing)|le(?:a)?ds?|reasons?|results?|resulted"
    r"|resulting|purposes?|out of|prompt(?:ed|s)|motivat\w+|forced|allow(?:s|ed)?|enabl\w+|prevent(?:s|ed)?"
    r"|protect(?:s|ed)?|mean(?:s|t)|lack|until"
)
_TO = r"(?<!used )\bto (?!the\b|an?\b|his\b|her\b|their\b|its\b|this\b|that\b|these\b)"
_TO_DO = _TO[:-1] + r"|(?:us|me|him|them|you|it|one|each|all|every|any|some|no|my|your|our|school|work|home|bed|be)\b)"
_GOES_ON = r"[:;]\s|,\s*[a-z]+ing\b"
_NO_PURPOSE = re.compile(
    r"\b(?:hop|want|plan|lik|wish|need|hav|try|tri|agree|decid|expect|beg[au]n|seem|tend|refus|ask|told|ought|going|intend|promis|ha[sd]|"
    r"continu|manag|fail|offer|learn|prefer|start|able|about|happen|appear|bound|likely|free|ready|willing|invit|encourag|advis)"
    r"(?:e|es|ed|ing|s|n|ning|d|ve|y|ies|ied)?\sto\s[a-z]+",
    re.IGNORECASE,
)
"""Something that somebody hopes to do is no reason for what is."""
_REASON = re.compile(
    rf"\b(?:{_GIVES_REASON}|otherwise|unless|for (?:lack|fear|want|use|the sake))\b"
    rf"|{_TO_DO}(?-i:[a-z]{{2,}})|{_GOES_ON}"
    r"|\bin (?:protest|order|response|reaction|revenge|return|fear|anger|view of|light of|an (?:attempt|effort)"
    r"|(?:the )?hopes?)\b"
    r"|\A\W*(?:knowing|fearing|believing|hoping|thinking|wanting|realis|realiz|seeing)\w*\b"
    r"|,\s(?:as|for|after|when)\b|\A\W*(?:as|after|when|if|to|by|for)\b"
    r"|\bas (?:it|he|she|they|we|you|the|there|this|an?)\b"
    r"|\b(?:from|through|after|when|if|by) [a-z]+ing\b|\bin case\b",
    re.IGNORECASE,
)
_LOOSE_REASON = re.compile(
    rf"\b(?:{_GIVES_REASON}|as|for|after|when|if|by|through|from)\b|{_TO}[a-z]{{2,}}|{_GOES_ON}", re.IGNORECASE
)
"""As release 0.1.0 has it."""


def gives_reason(text: str, *, strictly: bool = True) -> bool:
    """True if something in the text may be a reason, a cause or a purpose. `strictly`: a preposition alone is none."""
    if not strictly:
        return _LOOSE_REASON.search(text) is not None
    return _REASON.search(_NO_PURPOSE.sub("", text)) is not None


_NO_CAUSE = re.compile(
    r"(?:\b(?:not|never)|n['’]t)\b(?:(?!\bbut\b)[^,.;:]){0,120}\bbecause\b(?!.{0,400}\bbut\b)", re.IGNORECASE
)


def excludes_reason(text: str) -> bool:
    """True if the text says of a reason that it was none, and gives no other: `It did not end because of the rain.`"""
    return _NO_CAUSE.search(text) is not None


def wanted_of(question: str) -> WantedKind:
    """The kind of answer that the question word asks for; ANY where it does not tell."""
    return next((wanted for wanted, pattern in _ASKS if pattern.search(question)), WantedKind.ANY)


_AT_LARGE = re.compile(
    r"^\W*(?:(?:what\s(?:is|was|has\sbeen)\s(?:said|told|written|known|reported|recorded)|tell\s(?:me|us)(?:\smore)?)"
    r"\s(?:about|of|on)\b"
    r"|what(?:['’]s|\s(?:is|are|was|lies|lay|stands|stood))(?:\sthere)?"
    r"\s(?:here|nearby|around\shere|in\sview|on\sthe\smap|in\sthis\s(?:area|place|region))\W*$)",
    re.IGNORECASE,
)


def asks_at_large(question: str) -> bool:
    """True for `What is said about the mill?` and `What lies here?`: whatever concerns it answers, and nothing in
    particular is asked."""
    return _AT_LARGE.match(question) is not None


_ROLE = re.compile(r"^\W*who (?:is|was|were|are) (?:the )?(?:\w+ ){0,3}?(\w+) of\b", re.IGNORECASE)


def role_of(question: str) -> str | None:
    """The role in `Who was the first chairman of ...`; None where none is asked for."""
    found = _ROLE.search(question)
    return found[1] if found else None


def offers(sentence: str, wanted: WantedKind, question: str, *, loosely: bool = False) -> bool:
    """True if `sentence` has something of the kind that is wanted and that the question does not already say.
    `loosely`: a place without a name will do (`in a cabin`)."""
    match wanted:
        case WantedKind.ANY:
            return True
        case WantedKind.TIME:
            return _TIME.search(sentence) is not None or (loosely and _tells_when(sentence, question))
        case WantedKind.NUMBER:
            amount = wanted_amount(question)
            if amount is None:
                return _NUMBER.search(sentence) is not None
            return states_amount(sentence, amount, loosely=loosely)
        case WantedKind.PERSON:
            named = bool(_names(sentence) - words_of(question).content)
            return named or (loosely and _does(sentence, question))
        case WantedKind.PLACE:
            said = words_of(question).content
            named = any(words_of(found[0]).content - said for found in _AT.finditer(sentence))
            return named or (loosely and _is_somewhere(sentence, question))


def _is_somewhere(sentence: str, question: str) -> bool:
    """True if the sentence tells a place without a name: `in a cabin`, and, where it is asked, `from a dairy`."""
    if _IN_A.search(sentence) or _PATH.search(sentence):
        return True
    return _FROM.search(question) is not None and _FROM_A.search(sentence) is not None


def _tells_when(sentence: str, question: str) -> bool:
    """True if the sentence names a time without a date, or a condition for what is asked as a rule."""
    if _WHEN.search(sentence):
        return True
    return _RULED.match(question) is not None and _CONDITION.search(sentence) is not None


def _does(sentence: str, question: str) -> bool:
    """True if the sentence says whose deed it is without a name: `granted by the head of department`, `The line manager
    answers`, for a question that says the deed."""
    asked = roots_of(question)
    doer = _DOER.match(sentence)
    if doer is not None and any(root_of(fold(word)) in asked for word in doer["deed"].split()):
        return not any(root_of(fold(word)) in asked for word in doer["doer"].split())
    return any(root_of(fold(found["doer"])) not in asked for found in _BY.finditer(sentence))


def _names(sentence: str) -> frozenset[str]:
    first = _LEADS.match(sentence)
    lead = frozenset({first[1].casefold()}) if first else frozenset()
    return words_of(sentence).names | (lead & words_of(sentence).content)


_TOPIC = re.compile(
    r"^\W*(?:what|who)\s+(?:is|was|are|were)\s+(?:the\s+|an?\s+)?((?:[\w'’.-]+\s+){0,3}[\w'’.-]+)$",
    re.IGNORECASE,
)
_CLOSING = " \t\n\r\x0b\x0c?.!"


@lru_cache(maxsize=256)
def topic_of(question: str) -> re.Pattern[str] | None:
    """For `What was X?`: sentences that say what X is match the pattern. None for other questions."""
    found = _TOPIC.match(question.rstrip(_CLOSING))
    if found is None:
        return None
    name = r"\s+".join(re.escape(word) for word in found[1].split())
    return re.compile(
        rf"\b{name}[\"”’]?(?:,[^,;]{{1,60}},)?\s+(?:is|was|are|were|means|meant|became|consists?|refers?)\b"
        rf"|\b(?:called|named|known as|remembered as|termed|entitled)\s+(?:the\s+|an?\s+)?[\"“‘]?{name}\b"
        rf"|\b(?:was|is)\s+{name}\s*[;,]|\b{name},\s+(?:an?|the)\s",
        re.IGNORECASE,
    )


def defines(sentence: str, topic: re.Pattern[str]) -> bool:
    """True if `sentence` says what the topic is or introduces it."""
    return topic.search(sentence) is not None


def first_word(sentence: str) -> str:
    """Its first word, folded, without the quotes and signs before it."""
    found = _FIRST.search(sentence)
    return found[0].casefold() if found else ""
