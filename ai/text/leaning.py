"""Sentences that lean on the one before: by a pronoun, by a word that joins, by an order on something named there."""

from __future__ import annotations

import re

from ai.text.question_type import first_word
from ai.text.support import fold
from retrieval.english.lists import UNWEIGHED_WORDS, word_list

HANGING = word_list(
    "he she they it this that these those his her their its him them such here there but and so then thus therefore "
    "however moreover nevertheless accordingly meanwhile otherwise besides also yet or nor hence"
)
"""First words that lean on the sentence before."""
_MEANING = word_list("he she they it this that these those his her their its him them such")
"""First words that mean something named before: without it nobody knows who or what is spoken of."""
_MEANS_NOTHING = re.compile(
    r"\W*(?:it\s+(?:is|was|has\s+been|had\s+been|(?:would|may|will|might|must)\s+be|seems|seemed|appears|appeared)\s+"
    r"(?:\w+\s+)?(?:that|(?:true|clear|evident|certain|likely|probable|possible|impossible|necessary|unnecessary|needless|"
    r"superfluous|important|wise|unwise|prudent|advisable|inadvisable|desirable|reasonable|customary|said|believed|thought|"
    r"known|estimated|reported)\s+(?:that|to|for))|those\s+(?:who|whose|whom|which|of))\b",
    re.IGNORECASE,
)
"""`It is said that`, `Those who`: the word means nothing before it."""
_ITSELF = re.compile(
    r"\W*this\s(?:agreement|contract|lease|manual|guide|handbook|leaflet|brochure|policy|notice|newsletter|page|booklet)"
    r"\s(?:is|shall|may|must|describes|explains|applies|covers|sets|tells|contains|lists|gives|begins|runs|governs)\b",
    re.IGNORECASE,
)
"""`This agreement is made between`: a document speaks of itself."""
_THERE_IS = re.compile(r"\W*there\s+(?:is|are|was|were|has|have|had|will|must|may|can)\b", re.IGNORECASE)
"""`There are sixty places`: the word means no place."""
_DO_IT = re.compile(
    r"\W*(?:(?:please|always|never|then|now|do not|don['’]t)\s+)?(?P<deed>[a-z]{3,})\s+(?:it|them)\b", re.IGNORECASE
)


def leans_back(text: str) -> bool:
    """True if a sentence begins with a word that leans on the one before it."""
    return first_word(text) in HANGING and not (_THERE_IS.match(text) or _ITSELF.match(text))


def means_another(text: str) -> bool:
    """True if a sentence begins with a word that means something named before it."""
    return first_word(text) in _MEANING and not (_MEANS_NOTHING.match(text) or _ITSELF.match(text))


def orders_it(text: str) -> bool:
    """True if a sentence is an order on something named before it: `Keep it away from flames.`"""
    found = _DO_IT.match(text)
    return found is not None and fold(found["deed"]) not in UNWEIGHED_WORDS
