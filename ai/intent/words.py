"""What questions call measures, kinds of place and comparisons. Data only; patterns over the masked question
(`ai.intent.reading`)."""

from __future__ import annotations

from collections.abc import Mapping

MEASURES: Mapping[str, tuple[str, ...]] = {
    "population": (
        r"populations?",
        r"populous",
        r"populated",
        r"inhabitants?",
        r"residents",
        r"how many (?:people|persons|citizens|souls) "
        r"(?:lived?|are|were|was|is|resided?|dwelt|inhabited|did|does|do|had|has|in)\b"
        r"(?! (?:killed|dead|injured|there killed))",
        r"(?:number of|more|most|fewest|fewer|least) (?:people|persons|citizens)",
        r"(?:at least|over|more than) \d+ (?:people|persons|citizens|souls)",
    ),
}
"""Patterns that name a measure. A measure of the corpus that is not listed is named by its own words."""

SIZE_MEANS = "population"
"""What `large` and `small` compare where no measure is named: a county by its people, not by its area."""

AREA_WORDS = r"\b(?:areas?|acres|square|acreage)\b"
"""Sizes that no operation answers: with these a superlative is not one of people."""

TYPES: Mapping[str, tuple[str, ...]] = {
    "county": ("county", "counties"),
    "city": ("city", "cities", "town", "towns", "municipality", "municipalities"),
    "state": ("state", "states"),
}
"""Words for kinds of place. A type of the gazetteer that is not listed is named by itself and its plural."""

NOT_PLACES = frozenset(
    {"nation", "treaty", "person", "event", "organisation", "organization", "document", "date", "tribe"}
)
"""Types of entity that lie nowhere: no operation on places takes them."""

RELATION_CUES = r"\b(?:treat(?:y|ies)|signed|signatory|signatories|tribes?|nations?|indians?|chiefs?|cession|ceded)\b"
"""With these a name that a nation and a place share is the nation's."""

COMPARISONS = (
    r"\b(?:larger|bigger|smaller|greater|higher|lower|compare[ds]?|comparison|versus|vs|than|"
    r"more (?:people|inhabitants|residents|populous)|fewer|less populous)\b"
)
"""With these a figure of one place is asked for beside that of another."""

COUNTS: Mapping[str, int] = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twenty": 20
}  # fmt: skip

_STOP_WORDS = """
a about after all also am an and any are as at be been before being between both but by can could
did do does each for from had has have he her his how i if in into is it its list me more most much
name no not of on or other our show since so some such tell than that the their them then there
these they this those through to under until up us was we were what when where which while who whom
whose why will with within would year years you
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that say nothing of what a question is about."""
