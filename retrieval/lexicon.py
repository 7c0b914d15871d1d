"""Words that decide whether something reads like a name. Data only; English, lower case, in the form of
`surface_key`."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)

# Names that are also everyday words: written in lower case and alone they are the word ("a liberal policy"), not the
# town.
EVERYDAY_NAMES = _words("""
    admire battlefield best brush buffalo cache centennial city commerce delta eagle elk enterprise eureka fountain
    globe golden grand green grove gypsum hill home hope independence liberal liberty licking long lost maize march
    may mission moon mulberry mustang noble ord overland pacific page peculiar plains point pleasant price protection
    pueblo purcell reading republic reserve rifle rose severance speed spring springs stark sterling strong sulphur
    summit superior union valentine valley victor victory walnut waters west
    """)

# Words that a question may write with a capital without naming anything: openers, function words, kinds, measures,
# superlatives, calendar.
NOT_NAMES = _words("""
    a about according across after again against all also although am among an and any anything are around as ask at
    be because been before being below between both but by
    calculate can cities city combined compare compute could count counted counties county
    decade describe define did difference discuss distance do does draw during
    each early either events every explain
    fewest few find first five for four from
    general give given growth
    had has have he help her here highest his history how however
    i identify if in include indian indians indicate inside into is it its
    just kindly know
    largest last late least less let lets list local locate long lowest
    major many map me mean median mention mid more most mr mrs much my
    name names nation nations nearest near neighboring neighbouring neighbors neighbours never next no nor not now
    number of often old on once one only or other our out outline over
    people peoples per place places please population populations present provide
    question
    railroad railroads rank read recall records report residents inhabitants river rivers
    say scope second see several shall she should show since size smallest so some source sources state states still
    story such suggest sum summarise summarize suppose
    take tell ten territory than that the their them then there these they third this those though three through thus
    to today total town towns treaties treaty tribe tribes two
    under until up upon us use using
    versus very via village villages vs
    was we were what whatever whats when whenever where wherever wheres whether which while who whom whos whose why
    will with within without would write
    year years yes yesterday you your
    monday tuesday wednesday thursday friday saturday sunday
    north south east west northern southern eastern western central
    """) | frozenset(MONTHS)

# After a name these say what kind of thing it is and do not make another name of it ("Kansas Territory", "Kaw
# Indians").
NEUTRAL_SUFFIXES = _words("""
    co county counties city cities town towns state states territory territories indian indians tribe tribes nation
    nations people peoples treaty treaties population village reservation agency
    """)
