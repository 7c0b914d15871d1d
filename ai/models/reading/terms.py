"""The words of a question by which sentences are weighed."""

from __future__ import annotations

import re

from ai.text.support import WORD, fold
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.model import Intent

_ASKING = word_list(
    "happen happened happening tell describe explain give list find show know say said information kind type name "
    "called mean please story first time year years day date place people person number amount lot anything something "
    "want wanted wants use used using do does did"
)
_HOW = re.compile(
    r"\b(?:how|(?:at|to|above|below)\s+(?:what|which))\s+(temperature|long|far|tall|high|deep|wide|thick|old|heavy|hot|cold"
    r"|warm|large|big|soon|often|frequently)\b",
    re.IGNORECASE,
)
"""The adjective of a question word: a sentence that says the amount need not say it, unless it is all that is asked."""
_ONLY_ASKS = re.compile(
    r"\b(?:since\swhen|how\smuch\smoney"
    r"|(?:take|takes|took|taking)\splace|(?<=day\s)of\sthe\s(?:week|month|year))\b",
    re.IGNORECASE,
)
_IN_WHICH = re.compile(
    r"\b(?:in|at|to|by|from|for|with|on|of|under|into|through|against)\s(?:which|what)\s"
    r"(state|country|county|town|city|village|region|province|district)\b",
    re.IGNORECASE,
)
_SHORTENED = re.compile(r"(?:i|you|he|she|it|we|they|that|there|who|what|where|when|how)['’](?:m|re|ve|ll|d|s)")
"""Words of the question that are shortened."""


def question_terms(question: str, intent: Intent) -> frozenset[str]:
    """The folded content words of the question without the words that only ask, and without the names and times that
    are checked apart."""
    named = {fold(w) for mention in intent.mentions for w in WORD.findall(mention.surface)}
    words = {fold(match[0]) for match in WORD.finditer(question) if not match[0][0].isdigit()}
    terms = frozenset(
        w for w in words if w not in UNWEIGHED_WORDS and w not in _ASKING and w not in named and len(w) > 1
    )
    return terms - {fold(found[1]) for found in _HOW.finditer(question)} or terms


def telling_terms(question: str, terms: frozenset[str]) -> frozenset[str]:
    """The terms without those that belong to how it is asked: `I'm`, `since when`, `take place`, `how much money`,
    `which day of the week`."""
    only_asks = {fold(word) for found in _ONLY_ASKS.finditer(question) for word in WORD.findall(found[0])}
    return frozenset(term for term in terms if term not in only_asks and not _SHORTENED.fullmatch(term)) or terms


def place_of(question: str) -> str:
    """The word for a kind of place behind `in which`, which the place need not carry; empty without one."""
    found = _IN_WHICH.search(question)
    return fold(found[1]) if found else ""
