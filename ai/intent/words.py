"""The words of English that a question may use, by what they do. Data only, lower case; a phrase is one entry.

What a corpus holds (its kinds of place, its measures, their units, its relations) is not here: `ai.intent.lexicon`
takes those words from the corpus and adds the synonyms below, where the corpus holds one of their group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from retrieval.algebra import aggregates
from retrieval.algebra.units import METRES, SQUARE_KILOMETRES
from retrieval.english.lists import word_list


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    """Phrases between bars; lines may be broken anywhere."""
    return tuple(" ".join(phrase.split()) for phrase in text.split("|"))


SYNONYMS: tuple[frozenset[str], ...] = tuple(
    frozenset(word.replace("_", " ") for word in _words(group))
    for group in (
        "population populations people inhabitant inhabitants resident residents person persons citizen citizens soul"
        " souls folk folks pop populous populated",
        "rainfall rain precipitation rain_fell rain_fall rain_falls",
        "elevation elevations height heights altitude altitudes high tall",
        "length lengths long",
        "depth depths deep",
        "width widths wide",
        "area areas acreage extent",
        "city town municipality",
        "occur occurs occurred happen happens happened",
        "nation tribe",
        "signed make makes made making conclude concluded",
        "struck strike strikes striking hit hits",
    )
)
"""Words of one meaning. A group holds for a measure, unit or kind of the corpus that is one of its words."""

PEOPLE = next(group for group in SYNONYMS if "people" in group)
SIZES = frozenset({"population", "people", "area", "volume", "size"})
"""Measures and units that `large` and `small` compare: of a place with one such measure, that one."""

COMPARATORS: Mapping[str, str] = {
    phrase: sign
    for sign, phrases in {
        ">": "more than|over|above|exceeding|exceeds|exceed|exceeded|greater than|larger than|bigger than|higher than|"
        "in excess of|longer than|taller than|deeper than|farther than|further than|beyond",
        ">=": "at least|no less than|no fewer than|not less than|not fewer than|a minimum of",
        "<": "less than|fewer than|under|below|smaller than|lower than|shorter than|closer than|nearer than",
        "<=": "at most|no more than|not more than|up to|no greater than|not over|a maximum of|no farther than|"
        "no further than|no larger than",
        "=": "exactly|precisely|equal to",
    }.items()
    for phrase in _phrases(phrases)
}
OR_MORE: Mapping[str, str] = {
    "or more": ">=", "or over": ">=", "and over": ">=", "or above": ">=", "or fewer": "<=", "or less": "<=",
    "or under": "<=",
}  # fmt: skip
"""After a number."""

LENGTHS: Mapping[str, str] = dict.fromkeys(
    ("km", "kms", "kilometre", "kilometres", "kilometer", "kilometers"), METRES["km"]
) | dict.fromkeys(("mi", "mile", "miles"), METRES["mi"]) | dict.fromkeys(
    ("metre", "metres", "meter", "meters"), METRES["m"]
)  # fmt: skip
"""Metres of a unit of length."""

SQUARE_KILOMETRE, SQUARE_MILE = SQUARE_KILOMETRES["km²"], SQUARE_KILOMETRES["mi²"]
SQUARES: Mapping[str, str] = {
    f"{square} {unit}": scale
    for scale, units in (
        (SQUARE_KILOMETRE, "km kilometres kilometers kilometre kilometer"),
        (SQUARE_MILE, "miles mile mi"),
    )
    for unit in units.split()
    for square in ("square", "sq")
} | {
    "km2": SQUARE_KILOMETRE,
    "km²": SQUARE_KILOMETRE,
    "acres": SQUARE_KILOMETRES["ac"],
    "hectares": SQUARE_KILOMETRES["ha"],
}
"""Square kilometres of a unit of area."""

NAMES_OF_UNITS: Mapping[str, tuple[str, ...]] = {
    "ha": ("hectares",),
    "km2": ("square kilometres", "square kilometers"),
    "sq km": ("square kilometres", "square kilometers"),
    "t": ("tonnes", "tons", "t"),
    "kg": ("kilograms", "kilogrammes", "kg"),
    "mm": ("millimetres", "millimeters", "mm"),
    "acres": ("acres",),
}
"""Names of units by the short form in which a figure has them, as they stand before what is measured."""

SCALES: Mapping[str, int] = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "dozen": 12}
NUMBERS: Mapping[str, int] = {
    word: number
    for number, word in enumerate(
        _words(
            "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
            " eighteen nineteen twenty"
        ),
        start=1,
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
ORDINALS: Mapping[str, int] = {
    word: number
    for number, word in enumerate(
        _words("second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"), start=2
    )
} | {"next": 2}

EXCEPTIONS = _phrases(
    "except|except for|excepting|excluding|apart from|aside from|other than|besides|but|not counting|"
    "without|without counting|leaving out|not including|with the exception of"
)
NEGATIONS = _phrases("not|no|neither|nor|none|don't|doesn't|didn't|isn't|aren't|wasn't|weren't|non")
OUTSIDE = ("outside", "outside of")
BORDERS = _phrases(
    "border|borders|bordering|bordered|bordered by|share a border with|shares a border with|sharing a border with|"
    "shared a border with|share borders with|shares its border with|adjacent to|adjacent|adjoin|adjoins|adjoining|"
    "abut|abuts|abutting|neighbouring|neighboring|touch|touches|touching|next to"
)
NEIGHBOURS = _phrases(
    "neighbours|neighbors|neighbour|neighbor|neighbours of|neighbors of|neighbouring|neighbouring places"
)
INSIDE = _phrases(
    "in|inside|within|of|at|for|on|upon|lie on|lies on|located in|situated in|"
    "lie in|lies in|lying in|inside of|belonging to|belong to|from"
)
HOLDS = _phrases("contain|contains|contained|containing|include|includes|hold|holds|surround|surrounds")

SUPERLATIVES: Mapping[str, tuple[str, str]] = {
    word: (order, scale)
    for order, scale, words in (
        ("largest", "size", "largest biggest greatest"),
        ("smallest", "size", "smallest tiniest"),
        ("largest", "amount", "highest most top maximum"),
        ("smallest", "amount", "lowest fewest least bottom minimum"),
        ("smallest", "gap", "nearest closest"),
        ("largest", "gap", "farthest furthest remotest"),
        ("smallest", "time", "earliest first oldest"),
        ("largest", "time", "latest last newest"),
        ("largest", "rate", "fastest"),
        ("largest", "length", "longest"),
        ("smallest", "length", "shortest"),
        ("largest", "elevation", "tallest"),
        ("largest", "depth", "deepest"),
        ("largest", "width", "widest"),
    )
    for word in _words(words)
}
COMPARATIVES: Mapping[str, str] = {
    word: order
    for order, words in (
        ("largest", "larger bigger greater higher more"),
        ("smallest", "smaller lower fewer less"),
        ("nearest", "closer nearer"),
        ("farthest", "farther further"),
        ("any", "compare compared comparison versus vs rank"),
    )
    for word in _words(words)
}
AGGREGATES: Mapping[str, aggregates.AggregateName] = {
    word: name for name, aggregate in aggregates.AGGREGATES.items() for word in aggregate.asked
}
CHANGES: Mapping[str, int] = {
    word: direction
    for direction, words in (
        (1, "grow grew grown growing grows growth increase increased increases gain gained gains rise rose risen"),
        (-1, "decline declined declines decrease decreased decreases lose lost loses loss losing fall fell fallen"),
        (-1, "shrink shrank shrunk shrinking drop dropped"),
        (0, "change changed changes changing develop developed development"),
    )
    for word in _words(words)
}
RELATIVE = _phrases(
    "percent|per cent|percentage|in percent|in per cent|%|by percentage|proportionally|relatively|in relative terms|"
    "rate|growth rate|relative|in percentage terms|percentage terms|in relative size"
)
DIFFERENCE = ("difference", "differ")
RATIO = _phrases(
    "times as many|times as much|times as large|times as big|times larger|times as populous|ratio|times more|"
    "times bigger"
)
AREA = ("area", "areas", "land area", "surface area", "by area", "in area", "surface", "acreage", "square footage")
DENSITY = (
    "density", "densities", "population density", "densely populated", "densely", "dense", "densest",
    "sparsely populated", "thinly populated", "thinly settled", "sparsely settled",
)  # fmt: skip
SPARSE = frozenset({"sparsely populated", "thinly populated", "thinly settled", "sparsely settled"})
"""Of these the most is the least density."""
PER_AREA: Mapping[str, str] = {
    f"{per} {unit}": scale
    for per in ("per", "for each", "for every", "to the")
    for scale, units in (
        ("km²", "square kilometre|square kilometer|square km|sq km|km2|km²"),
        ("mi²", "square mile|sq mile|square mi|sq mi"),
    )
    for unit in _phrases(units)
}
"""The unit of area of a density."""
SHARE = _phrases(
    "share|what share|share of|what share of|fraction|what fraction|fraction of|what fraction of|proportion|"
    "what proportion|proportion of|what proportion of|percentage of|what percentage|what percentage of|"
    "what percent of|what per cent of|how many percent of|how many per cent of"
)
SERIES = _phrases(
    "by decade|by year|by census|census by census|year by year|decade by decade|over the years|over time|"
    "over the decades|each year|each census|each decade|every year|every census|every decade|in each census|"
    "in every census|in each year|in every year|through the years|through time"
)
"""A figure is wanted for every year on record."""
DISTANCE = ("how far", "distance", "how far apart", "far", "how many km", "how many kilometres", "how many kilometers")


@dataclass(frozen=True, slots=True)
class Quality:
    """A word for how something is: the measures that it may be of, in which direction and to which degree. A generic
    one (`higher`) says no measure beside one that is named; one that `ages` may be of the year in which a thing came to
    be, of which an earlier one is older."""

    measures: frozenset[str]
    more: bool
    degree: Literal["", "more", "most"]
    generic: bool = False
    ages: bool = False


def _qualities() -> Iterator[tuple[str, Quality]]:
    for forms, opposites, measures in (
        ("tall taller tallest", "", "height elevation altitude"),
        ("high higher highest", "low lower lowest", "height elevation altitude"),
        ("long longer longest", "", "length duration"),
        ("", "short shorter shortest", "length height duration"),
        ("deep deeper deepest", "shallow shallower shallowest", "depth"),
        ("wide wider widest", "narrow narrower narrowest", "width breadth"),
        ("broad broader broadest", "", "width breadth"),
        ("thick thicker thickest", "thin thinner thinnest", "thickness"),
        ("heavy heavier heaviest", "light lighter lightest", "weight mass"),
        ("old older oldest", "young younger youngest", "age"),
        ("", "new newer newest", "age"),
        ("expensive", "cheap cheaper cheapest", "price cost fee fare"),
        ("dear dearer dearest", "inexpensive", "price cost fee fare"),
        ("fast faster fastest", "slow slower slowest", "speed"),
        ("hot hotter hottest", "cold colder coldest", "temperature"),
        ("warm warmer warmest", "cool cooler coolest", "temperature"),
        ("earn earns", "", "salary wage wages pay income earnings"),
        ("paid", "", "salary wage wages pay"),
        ("work works", "", "hours"),
        ("cost costs", "", "price cost"),
        ("weigh weighs", "", "weight mass"),
    ):
        named = frozenset(_words(measures))
        for more, said in ((True, forms), (False, opposites)):
            for word, degree in zip(_words(said), _DEGREES, strict=False):
                of_verb: Literal["", "more", "most"] = "" if word in ("earns", "costs", "weighs", "works") else degree
                generic, ages = "highest" in _words(forms), "age" in named
                yield word, Quality(named, more, of_verb, generic=generic, ages=ages)


_DEGREES: tuple[Literal["", "more", "most"], ...] = ("", "more", "most")
QUALITIES: Mapping[str, Quality] = dict(_qualities())
QUANTIFIED: Mapping[str, tuple[str, bool]] = {
    "most": ("most", True), "least": ("most", False), "more": ("more", True), "less": ("more", False),
}  # fmt: skip
"""Before a quality: its degree, and whether it holds more or less."""
SAME_MEASURE = word_list(
    "annual base current hourly list max maximum monthly overall retail top total unit weekly yearly"
)
"""Before the word for a measure, which stays that of the thing: `top speed`, `unit price`."""
ORIGINS = word_list(
    "bear birth build commiss complet construct creat erect establish form found inaugur launch open plant publish"
)
"""Stems of the words for how a thing came to be."""

STARTS = word_list("appointed hired join joined start started")
"""Words for when somebody started: a year of one of these is that of the others, where these have none of their own."""

BEFORE_TIMES = frozenset(_words("between before prior after since until from during in on of as the year years and"))
"""Words that belong to the time after them, as `ai.intent.times` reads it."""

WHICH = _phrases(
    "which|what|which of|what are|what is|name|list|find|show|show me|give me|tell me|give|identify|i am looking for|"
    "i'm looking for"
)
MANY = _phrases("how many|number of|the number of|count of|count|count the|how many are there")
MUCH = ("how much", "how large", "how big", "how high")
WHEN = _phrases(
    "when|what year|which year|in which year|in what year|on what date|what date|in which census|in what census|"
    "which census"
)
WHO = ("who",)
PLACE_ASKED = ("where", "at what place", "at which place")
HERE = _phrases(
    "here|shown here|on this map|on the map|shown on the map|shown on this map|in view|in this view|it|its|this place|"
    "that place|this one"
)
"""The places in the map's view."""

CHANGES_NOTHING: dict[str, str] = {
    word: reason
    for reason, words in {
        "article": "the a an",
        "copula or auxiliary": "is are was were be been being did do does will would can could there's that's what's",
        "says that a place has what is asked of it": "had has have having with",
        "relative pronoun or conjunction of a condition that is read": "that who whose which and also",
        "how something is, as its figure says": "how",
        "every place of the kind is meant anyway": "all every any the",
        "says that something exists": "there exist exists existed",
        "politeness, and who asks": "please me us i you we tell show know want like to kindly see find out let",
        "where a place is, said by the condition": "lie lies lying lay located situated found",
        "what a record is": "recorded record reported counted registered known held listed",
        "the noun of a time that is read": "year years census",
        "says that a figure is counted": "enumerated counted handled handle handles",
        "a place is meant as a whole anyway": "whole entire itself",
        "says that a place has its area": "cover covers covered",
        "whose it is, as the sentence says": "their",
        "the noun of a figure that is read": "figure figures number value level amount size",
        "what a question is": "question answer",
        "where everything is looked up": "corpus database dataset",
        "genitive": "'s ’s s '",
    }.items()
    for word in _words(words)
}
CHANGES_NOTHING |= dict.fromkeys(("in a straight line", "as the crow flies"), "every distance is measured so")
CHANGES_NOTHING |= {"say about": "names the source of a figure", "says about": "names the source of a figure"}
"""Words that no plan consumes and that change no answer, each with the reason."""

OCCURRING = _phrases("came|come|comes|took place|take place|takes place|taken place|dated")
"""Say of what is dated that it was; of a place they say something else."""
JOINTLY = _phrases("jointly with|together with|along with|alongside|in common with")

DWELLING = frozenset(_words("lived live living lives resided reside residing dwelt dwell dwelling inhabited"))
"""Change nothing where people are counted."""
