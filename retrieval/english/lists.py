"""English as data: function words, the calendar, and words that decide whether something reads like a name. Lower case.

Four readers pass over function words, and no two over the same ones: each list here is `FUNCTION_WORDS` and what its
reader adds. Another word in a list changes what is found, drafted or supported; `exhibit eval` measures it.
"""

from __future__ import annotations


def word_list(text: str) -> frozenset[str]:
    """A set of words written as one string."""
    return frozenset(text.split())


FUNCTION_WORDS = word_list("""
    a about after all also am an and any are as at be been before being between both but by can could did do
    does each for from had has have he her his how i if in into is it its me more most no not of on or other our
    so some such than that the their them then there these they this those through to under until up us was we
    were what when where which while who whom why will with would you
    """)
"""Words that every reader passes over."""

_FURTHER = word_list("""
    doing down during few further having here hers him itself my nor off once only out over own s same she
    should t too very your
    """)

STOP_WORDS = FUNCTION_WORDS | _FURTHER | word_list("ours theirs whose yours")
"""Words that say how something is asked, not what: full text and agent pass over them."""

UNWEIGHED_WORDS = (
    FUNCTION_WORDS | _FURTHER | word_list("above again because below just many may might much must now one shall upon")
)
"""Words that no source has to carry for a sentence to be supported, and that no candidate sentence is chosen by."""

REQUEST_WORDS = FUNCTION_WORDS | word_list(
    "list much name show since tell though whose within without write year years your"
)
"""Words that say nothing of what a question is about, once its names, times and measures are taken out."""

SUBJECT_PRONOUNS = word_list("i we you one he she it they")
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DATES = frozenset((*MONTHS, *WEEKDAYS))
"""Months and days of the week."""
MONTH_NUMBERS = {name: number for number, month in enumerate(MONTHS, 1) for name in (month, month[:3])} | {"sept": 9}
"""Months and their abbreviations, by number."""

EVERYDAY_NAMES = word_list("""
    admire battlefield best brush buffalo cache centennial city commerce delta eagle elk enterprise eureka
    fountain globe golden grand green grove gypsum hill home hope independence liberal liberty licking long lost
    maize march may mission moon mulberry mustang noble ord overland pacific page peculiar plains pleasant point
    price protection pueblo purcell reading republic reserve rifle rose severance speed spring springs stark
    sterling strong sulphur summit superior union valentine valley victor victory walnut waters west
    """)
"""Names that are also everyday words: written in lower case and alone they are the word ("a liberal policy"), not the
town."""

NOT_NAMES = (
    FUNCTION_WORDS
    | frozenset(MONTHS)
    | frozenset(f"{day}s" for day in WEEKDAYS)
    | word_list("""
    according across again against although among anything apart around aside ask because below besides beyond
    calculate central cities city combined compare comparing compute count counted counting counties county decade
    define describe difference discuss distance draw during early east eastern either events every except excepting
    excluding explain few fewest find first five four friday general give given growth help here highest history
    however identify include indian indians indicate inhabitants inside just kindly know largest last late least
    leaving less let lets list local locate long lowest major many map mean median mention mid monday mr mrs much my
    name names nation nations near nearest neighboring neighbors neighbouring neighbours never next nor north
    northern now number often old once one only out outline over people peoples per place places please population
    populations present provide question railroad railroads rank read recall records report residents river rivers
    saturday say scope second see several shall she should show since size smallest source sources south southern
    state states still story suggest sum summarise summarize sunday suppose take tell ten territory third though
    three thursday thus today total town towns treaties treaty tribe tribes tuesday two upon use using versus very
    via village villages vs wednesday west western whatever whats whenever wheres wherever whether whos whose within
    without write year years yes yesterday your
    """)
)
"""Words that a question may write with a capital without naming anything: openers, function words, kinds, measures,
superlatives, calendar."""

NEUTRAL_SUFFIXES = word_list("""
    agency cities city co counties county indian indians nation nations people peoples population reservation
    state states territories territory town towns treaties treaty tribe tribes village
    """)
"""After a name these say what kind of thing it is and do not make another name of it ("Kansas Territory", "Kaw
Indians")."""

ABBREVIATED = word_list(
    "mr mrs ms messrs dr prof rev hon st mt ft gen col maj capt lt lieut sgt corp pvt brig gov sen rep pres supt adm "
    "com jas jno geo wm chas thos robt benj saml nos vol vols p pp art sec secs ch chap fig figs ed eds cf viz vs "
    "ca approx esp incl etc al stat ser op cit ibid jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed "
    "thu thur thurs fri sat sun e.g i.e a.m p.m n.b"
)
"""Words whose period ends no sentence."""
