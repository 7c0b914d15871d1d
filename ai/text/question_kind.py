"""The router: what kind of thing a question asks for, by its form, and how much each channel counts for that kind.

A function of the question's words alone: no name and no kind of place has to be known, so the same question is routed
alike for everybody and over every corpus. What is read is the form: the question word, the noun it asks for, and what
binds that noun to the rest (a relation of places, a condition on a figure, a measure, a superlative). A name is told
from a word by its capital, unless the whole question is in small letters. The key from the categories of GeoQuestions
to kinds, and the figures, are in docs/retrieval.md (ADR 0081).
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

_NOUN = r"(?:[\w’'-]+ ){0,4}?[\w’'-]+"
"""The noun phrase that is asked for, up to five words: its last is the head noun, which is not looked at."""
_IS = r"(?:is|are|was|were)"
_DO = r"(?:do|does|did)"
_TELL = (
    r"(?:find|list|name|identify|(?:can|could) you (?:identify|determine|list|name|find)|give me|show me|tell me"
    rf"|{_IS} there)"
)
_PEOPLE = r"(?:people|persons|inhabitants|residents|citizens)"
_MEASURE = (
    rf"(?:areas?|sizes?|populations?|number of {_PEOPLE}|lengths?|perimeters?|elevations?|coordinates|locations?"
    r"|positions?|boundar(?:y|ies)|extents?|(?:administrative|national) (?:types?|levels?|units?))"
)
_FIGURE = r"(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten)"
_MORE = r"(?:more|less|fewer|greater|larger|bigger|smaller|higher|lower|at least|at most|exactly|over|under)"
_UNIT = r"(?:km|kilomet\w+|miles?|m|met\w+)\b"
_LONGEST = (
    r"(?:largest|biggest|smallest|greatest|highest|lowest|longest|shortest|nearest|closest|farthest|furthest"
    r"|tiniest|(?:north|south|east|west)ernmost|(?:most|least) \w*popul\w+)"
)
_MOST = rf"(?:(?<!at )(?:{_LONGEST}|most|fewest|least)\b)"
_SIDE = r"(?:north|south|east|west)(?:-?(?:east|west))?(?:ern)?"
_LIES = (
    r"(?:(?:border|intersect|adjoin|neighbou?r|surround|contain|overlap|touch|encompass|engulf|compris)"
    r"(?:e?s|e?d|e|ing)?\b(?! to\b)|cross(?:es|ed|ing)?\b|adjacent\b"
    rf"|(?:(?:to the )?{_SIDE} of|to the {_SIDE})\b"
    r"|(?:within|inside|near|nearby|close to|next to|far from|away from|apart from)\b"
    rf"|(?:{_MORE}(?: than)? )?{_FIGURE} ?{_UNIT}|\bradius\b"
    r"|(?:located|situated|found|lies?|lying) (?:in|on|inside|within|at)\b"
    rf"|belongs? to\b|distance between\b|{_IS} (?:a )?parts? of\b|shares? (?:a )?borders?\b|on the border\b"
    rf"|tributar(?:y|ies)\b|(?:clos|near|farth?|furth)er\b|\bapart\b|makes? up\b|made up\b|{_MORE} {_SIDE}\b)"
)
_HAS = rf"(?:has|have|had|{_DO} not have|(?:do|does|did)n[’']t have|possess(?:es)?|with|without)"
_SOME = rf"(?:(?:an?|no|any|all|both|more|less|fewer|at (?:least|most)|over|under|between|{_FIGURE})\b|(?-i:[a-z])+s\b)"
"""How many: an article, a quantifier or a bare plural."""
_COUNTED = rf"(?:how many|(?:total |exact )?(?:number|count|amount) of) (?!{_PEOPLE}\b)"
_FULL_NAME = r"(?-i:(?:[a-z]+ ){0,3}[A-Z][\w’'-]*(?:,? (?:[A-Z][\w’'-]*|of|the|and|de))*)"
_ON_A_MAP = r"(?: on (?:a|the) map)?\W*$"
_STATED = (
    r"^\W*(?:which|what|who)\b.{0,140}?\b(?:sign|signs|signed|cedes?|ceded|part(?:y|ies) to)\b"
    r"|^\W*(?:which|what|list|name)(?: all)?(?: the)? \w+ (?:of|in|from) \d{4}\b"
)


def _forms(begins: str) -> tuple[tuple[QuestionKind, re.Pattern[str]], ...]:
    """The forms in the order in which they are tried; `begins` is how a name begins."""
    name = rf"(?:the )?{begins}[\w’'-]*"
    aggregate = (
        rf"\b{_COUNTED}{_NOUN} (?:(?:that |which )?(?:{_IS} )?(?:(?:right |either |connected |there )*(?:in|on|to)\b"
        rf"|there\b|exists?\b|{_HAS} {_SOME}|{_LIES})|{_DO} (?:{name}).{{0,60}}? have\b)"
        rf"|\b{_COUNTED}{_NOUN} (?:in|on|of) (?:each|{name})"
        rf"|\b(?:average|mean|median)\b.{{0,60}}\b{_MEASURE}\b"
        r"|\b(?:average|mean|median) number of\b"
        rf"|\b(?:total|combined|maximum|minimum|sum of).{{0,30}}\b{_MEASURE} (?:of|among|for|in) (?:the |all |each )*"
        r"(?-i:[a-z])+s (?:in|of|that|within|located)\b"
        rf"|\bhow much of {name}|\b(?:percentage|share|proportion) of {name}"
        rf"|^\W*{_DO} .{{1,60}} have (?:more|fewer|less) (?-i:[a-z])\w+ than\b"
    )
    superlative = (
        rf"^\W*(?:which|what|{_TELL})(?: {_IS})?(?: the)?(?: {_FIGURE}| top)* {_LONGEST} .{{0,80}}?"
        rf"(?:\b(?:in|of|on|within) (?:the )?|\b(?:that|which|bordering)\b|{_LIES})"
        rf"|^\W*(?:which|what) {_NOUN}\b.{{0,80}}?\b(?:{_IS}|{_HAS}|covers?|occup(?:y|ies)) (?:the )?(?:{_LONGEST}"
        rf"|(?:most|fewest|least) (?-i:[a-z])+(?: in (?:\d{{4}}|{name}))?\W*$)|^\W*how \w+ {_IS} the {_LONGEST}"
    )
    of_one = (
        rf"^\W*(?:what|how much)(?: {_IS}|'s|’s)? (?:the |a )?(?:(?!average|mean|median)\S+ ){{0,2}}?{_MEASURE} "
        rf"(?:density )?(?:residing )?(?:of|in|at) (?:the )?(?:(?-i:[a-z])+(?<!s) (?:of )?(?:the )?)?{begins}"
    )
    related = (
        rf"^\W*(?:(?:in|to|with|on) )?(?:in {name}[^,]{{0,40}}, )?(?:which|{_TELL})\b.{{0,200}}?{_LIES}"
        rf"|^\W*what (?:{_IS} the )?(?:(?-i:[a-z])+ ){{1,3}}?(?:{_IS} )?{_LIES}"
        rf"|^\W*which (?:{_NOUN} )?{_IS} (?:the |all the )?(?:{_NOUN} )?(?:in|of|on|at) {name}"
        rf"|^\W*(?:which|what) {_NOUN} (?:(?:in|of|on) {name} )?(?:{_NOUN} )?(?:only )?{_HAS} {_SOME}"
        rf"|^\W*{_TELL} .{{0,80}}?\b(?:in|of|on|at) {name}|^\W*{_TELL} .{{0,80}}?\b(?:{_IS} (?:in|on)|{_HAS} {_SOME})"
        rf"|^\W*find all\b|^\W*which {_NOUN} exists? in\b"
        rf"|^\W*in (?:which|what) {_NOUN} {_IS} .{{1,80}} (?:located|situated)\b"
        rf"|^\W*which {_IS} {name}[’']s? "
    )
    test = (
        rf"^\W*(?:{_IS}|{_DO})\b.{{1,120}}?(?:{_LIES}|\bparts? of\b)"
        rf"|^\W*{_IS} {name}(?-i:.{{1,60}}?) (?:in|on) (?:an? |{name})"
        rf"|^\W*{_DO} {name}.{{0,60}} have (?:any|an?) |\bhow (?:close|far|near)\b"
    )
    attribute = (
        rf"^\W*where {_IS} (?:[\w’',-]+ ){{1,7}}?(?:located|situated){_ON_A_MAP}"
        rf"|^\W*where (?:{_IS}|lies?) (?:the |an? )?{_FULL_NAME}(?: {_IS})?{_ON_A_MAP}"
        rf"|^\W*where (?:(?-i:[a-z])+ )*?{name}.{{0,60}} {_IS} located\b"
        rf"|\b(?:what|which|how (?:large|big|long|wide))\b.{{0,40}}?\b{_MEASURE}\b.{{0,60}}?{begins}"
        rf"|\b{_MEASURE} (?:of|in|at) {name}|\bhow (?:large|big|wide) {_IS} {name}"
        rf"|\bhow many {_PEOPLE} (?:lived?|resided?|inhabit(?:ed)?|{_IS}|{_DO}|in|had)\b"
    )
    tried = (
        (QuestionKind.ATTRIBUTE, of_one),
        (QuestionKind.AGGREGATE, aggregate),
        (QuestionKind.SUPERLATIVE, superlative),
        (QuestionKind.RELATION, test),
        (QuestionKind.RELATION, related),
        (QuestionKind.RELATION, _STATED),
        (QuestionKind.ATTRIBUTE, attribute),
    )
    return tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in tried)


_WITH_CAPITALS = _forms(r"(?-i:[A-Z])")
_IN_SMALL_LETTERS = _forms(r"[a-z]")
"""Any word may be a name where the whole question is written in small letters."""
_LONGEST_FORM = 500
"""Characters read of a question. Its form stands at the beginning; some forms cost the square of the length."""


def kind_of(question: str) -> QuestionKind:
    """The kind of the question; TEXT where its form says nothing of places."""
    text = " ".join(question.split())[:_LONGEST_FORM]
    forms = _IN_SMALL_LETTERS if text == text.lower() else _WITH_CAPITALS
    return next((kind for kind, form in forms if form.search(text)), QuestionKind.TEXT)
