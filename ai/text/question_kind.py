"""The router: what kind of thing a question asks for, by its form, and how much each channel counts for that kind.

A function of the question's words alone: no name has to be known, so the same question is routed alike for everybody.
The key from the categories of GeoQuestions to kinds, and the figures, are in docs/retrieval.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from retrieval.model import ChannelName


class QuestionKind(StrEnum):
    """The operation asked for: one place; the places, nations or treaties in a relation; a count
    or a sum over places; the first of a ranking; or what a text says."""

    ATTRIBUTE = "attribute"
    RELATION = "relation"
    AGGREGATE = "aggregate"
    SUPERLATIVE = "superlative"
    TEXT = "text"


LEADING: Mapping[QuestionKind, tuple[ChannelName, ...]] = {
    QuestionKind.ATTRIBUTE: (ChannelName.SPATIAL,),
    QuestionKind.RELATION: (ChannelName.SPATIAL, ChannelName.GRAPH),
    QuestionKind.AGGREGATE: (ChannelName.SPATIAL,),
    QuestionKind.SUPERLATIVE: (ChannelName.SPATIAL,),
    QuestionKind.TEXT: (ChannelName.FULLTEXT, ChannelName.VECTOR),
}
"""The channels that a kind is for."""

_PLACES = (
    r"(?:places?|count(?:y|ies)|cit(?:y|ies)|towns?|villages?|states?|countr(?:y|ies)|provinces?|municipalit(?:y|ies)"
    r"|boroughs?|districts?|wards?|regions?|regional units?|prefectures?|parish(?:es)?|communit(?:y|ies)|baron(?:y|ies)"
    r"|townlands?|localit(?:y|ies)|settlements?|areas?|territor(?:y|ies)|(?:administrative )?units?"
    r"|authorit(?:y|ies)|councils?"
    r"|lakes?|rivers?|streams?|creeks?|canals?|reservoirs?|bays?|beach(?:es)?|islands?|forests?|woods?|forestlands?|parks?"
    r"|(?:nature )?reserves?|mountains?|valleys?|peaks?|springs?|ports?|forts?|reservations?|rail(?:road|way)s?"
    r"|stations?|neighbou?rs?|centers?|centres?|inflows?|outflows?|bod(?:y|ies) of water|squares?|bridges?|deserts?)"
)
_ASKED = r"(?:which|what|find|list|name|give me|show me|tell me|are there|is there|is any|are any|do any|does any)"
_MOST = (
    r"(?:(?<!at )(?:largest|biggest|smallest|greatest|highest|lowest|longest|shortest|nearest|closest|farthest|furthest"
    r"|tiniest|southernmost|northernmost|easternmost|westernmost|most|fewest|least|top)\b)"
)
_SIZE = (
    r"(?:areas?|sizes?|populations?|inhabitants|residents|lengths?|perimeters?|elevations?|coordinates|locations?|boundar(?:y|ies)"
    r"|extents?|(?:administrative|national) (?:types?|levels?|units?))"
)
_LIES = (
    r"(?:border(?:s|ed|ing)?|adjacent|adjoin(?:s|ing)?|neighbou?r(?:s|ing)?|intersects?|cross(?:es)?|touch(?:es)?|overlaps?"
    r"|contains?|(?:north|south|east|west)(?:east|west)?(?:ern)? of|to the (?:north|south|east|west)"
    r"|within|inside|near|close to|next to|far from"
    r"|at (?:most|least) \d[\d.,]* ?(?:km|kilomet\w+|miles?|m\b|met\w+)|(?:located|situated|lies?|lie|is|are) in"
    r"|belongs? to|distance between|part of|shares? (?:a )?borders?|borders? with|tributar(?:y|ies) of"
    r"|surround(?:s|ed|ing)?"
    r"|(?:clos|near|farth?|furth)er|apart|make up)"
)
_AGGREGATE = re.compile(
    rf"\bhow many (?:\S+ ){{0,3}}?{_PLACES}\b|\bnumber of (?:\S+ ){{0,3}}?{_PLACES}\b"
    rf"|\b(?:total|average|mean|median|combined|maximum|minimum|sum of)\b.{{0,40}}\b(?:{_SIZE}|number)\b"
    rf".{{0,40}}\b(?:of|in|among|for) (?:the |all |each )*(?:\S+ ){{0,2}}?{_PLACES}\b"
    rf"|\bhow much of\b|\b(?:percentage|share|proportion) of\b|\b(?:more|fewer|less) {_PLACES} than\b",
    re.IGNORECASE,
)
_SUPERLATIVE = re.compile(
    rf"\b{_MOST}\s+(?:\S+\s+){{0,3}}?{_PLACES}\b"
    rf"|\b{_PLACES}\b.{{0,80}}?\b(?<!at )(?:is|are|was|were|has|have|had|with)\s+(?:the\s+)?{_MOST}"
    rf"|^\W*{_ASKED}\b.{{0,20}}\b{_PLACES}\b.{{0,80}}?\b(?<!at )the {_MOST}",
    re.IGNORECASE,
)
_WHICH_PLACES = re.compile(
    rf"^\W*(?:(?:in|to|with|on) )?(?:in (?:the )?(?-i:[A-Z])[^,]{{1,40}}, )?{_ASKED}\b"
    rf"(?:\s+\S+){{0,5}}?\s+{_PLACES}\b.{{0,200}}?(?:\b{_LIES}"
    r"|\b(?:of|in|on|at)\s+(?:the\s+)?[A-Z]|\b(?:has|have|had|no|without|more than|less than|over)\b)",
    re.IGNORECASE,
)
_TEST = re.compile(
    rf"^\W*(?:is|are|was|were|do|does|did)\b.{{1,120}}?\b{_LIES}"
    r"|^\W*(?:Is|Are|Was|Were) (?:the )?[A-Z](?-i:.{1,60}?) in (?-i:[A-Z])"
    rf"|^\W*(?:what|which) (?:is|are|was|were) .{{0,40}}?\b{_LIES}|\bhow (?:close|far|near)\b",
    re.IGNORECASE,
)
_OF_ONE = re.compile(
    rf"^\W*(?:what|how much)(?: is|'s|’s| was| were)? (?:the |a )?(?:\S+ ){{0,2}}?{_SIZE} (?:of|in|at) "
    r"(?:the )?(?:(?:city|town|county|municipality|island|state|republic|village|lake|region) )?"
    r"(?:of )?(?:the )?(?-i:[A-Z])",
    re.IGNORECASE,
)
_STATED = re.compile(
    r"\b(?:which|what|who)\b.{0,60}?\b(?:treat(?:y|ies)|nations?|tribes?|bands?)\b.{0,80}?\b(?:sign|signed|ceded?|made|party)\b"
    r"|\b(?:which|what)\b.{0,20}?\btreat(?:y|ies)\b",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(
    rf"^\W*where (?:is|are|was|were|lies?|can i find)\b(?!.*\b(?:born|filmed|set|from|buried|held)\b)"
    rf"|\b(?:what|which|how (?:large|big|long|wide))\b.{{0,40}}?\b{_SIZE}\b|\b{_SIZE} (?:of|in|at) (?:the )?[A-Z]"
    rf"|\bhow (?:large|big|long|wide|many (?:people|inhabitants|residents))\b|^\W*where\b.{{0,60}}\blocated\b",
    re.IGNORECASE,
)


def kind_of(question: str) -> QuestionKind:
    """The kind of the question; TEXT where its form says nothing of places."""
    text = " ".join(question.split())[:1_000]
    if _OF_ONE.search(text):
        return QuestionKind.ATTRIBUTE
    if _AGGREGATE.search(text):
        return QuestionKind.AGGREGATE
    if _SUPERLATIVE.search(text):
        return QuestionKind.SUPERLATIVE
    if _TEST.search(text) or _WHICH_PLACES.search(text) or _STATED.search(text):
        return QuestionKind.RELATION
    return QuestionKind.ATTRIBUTE if _ATTRIBUTE.search(text) else QuestionKind.TEXT
