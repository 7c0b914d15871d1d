"""English words that a check turns on: what frames a statement, what denies, counts, compares. Data only.

Nothing here names a place, a measure or a unit of a corpus: those come from the items themselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from retrieval.english.lists import word_list
from retrieval.english.stems import stem

FUNCTION = word_list(
    "a an the and or but as that than then there here this these those which who whom whose what it its he him his "
    "she her hers they them their theirs we us our you your i me my is are was were be been being am has have had "
    "having do does did done doing of in on at for to from by with into onto within during per so such if when "
    "where while also too very just about upon via 's s re ve ll d m"
)
"""Words that carry no content of their own; `PREPOSITIONS` among them say the role of what follows."""

FRAME = word_list(
    "according source sources table row record records recorded recording report reports reported data database figure "
    "figures number numbers value values amount amounted amounts total totalled totaled count counted counts numbered "
    "stood stand stands reached showed shows show stated states given gives listed registered tallied measured year "
    "years time date exactly precisely respectively namely equal equalled equals came comes come located actual "
    "actually official officially known available information indicates indicate document documents text passage "
    "evidence cited answer provided noted"
)
"""Words that present a figure or a source and claim nothing beyond it."""

PREPOSITIONS: Mapping[str, str] = {
    word: group
    for group, words in {
        "at": "in at on of for during within inside per as upon among amongst throughout",
        "from": "from",
        "to": "to into onto toward towards",
        "by": "by",
        "with": "with",
        "via": "via",
    }.items()
    for word in words.split()
}
"""Prepositions by the role that they give; those that are not here count as content."""

NEGATIONS = word_list(
    "not no never none neither nor without cannot nobody nothing nowhere false untrue incorrect wrong "
    "lack lacks lacked lacking"
)

MARKED: Mapping[str, str] = {
    word: group
    for group, words in {
        "all": "all every each entire entirely always whole wholly everyone everything everywhere",
        "most": "most mostly mainly majority largely usually generally typically",
        "some": "some several sometimes partly various certain occasionally",
        "many": "many numerous often frequently lots",
        "few": "few rarely seldom hardly scarcely barely little",
        "only": "only solely merely exclusively sole",
        "both": "both",
        "half": "half halves",
        "can": "can could able",
        "may": "may might perhaps possibly probably likely maybe",
        "would": "would should",
        "must": "must",
        "will": "will shall",
        "planned": "planned proposed intended expected attempted tried failed refused wanted hoped offered sought",
        "unreal": "would-be potential fake false pretended purported",
        "deputy": "deputy vice acting assistant",
        "said": "said says claimed claims alleged allegedly believed supposed supposedly reportedly thought rumoured",
    }.items()
    for word in words.split()
}
"""Quantities, modes and reports: where source and sentence differ in one of them, they say different things."""

POLES: Mapping[str, tuple[str, int]] = {
    word: (dimension, sign)
    for dimension, up, down in (
        ("size", "largest biggest greatest highest larger bigger greater higher more most maximum top exceeded exceeds "
         "outnumbered outnumbers above over exceeding tallest longest longer", "smallest least lowest smaller lower "
         "fewer fewest less minimum bottom below under shortest shorter tiniest"),
        ("change", "grew grow grows growing rose rise risen rises rising increased increase increases increasing "
         "gained gain climbed climb expanded doubled tripled growth up surged soared jumped", "fell fall fallen "
         "falls falling declined decline declines declining decreased decrease decreases decreasing dropped drop "
         "lost loss shrank shrunk halved down reduced reduction plummeted dwindled"),
        ("order", "first earliest earlier before oldest older former previous preceded", "last latest later after "
         "newest newer youngest younger latter following followed subsequent"),
        ("near", "nearest closest nearer closer", "farthest furthest farther further"),
    )
    for sign, words in ((1, up), (-1, down))
    for word in words.split()
}  # fmt: skip
"""Words that compare, each with its dimension and direction."""

SUPERLATIVES = word_list(
    "largest biggest greatest highest most maximum top smallest least lowest fewest minimum bottom tallest longest "
    "shortest tiniest first earliest oldest last latest newest youngest nearest closest farthest furthest"
)


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in word_list(words))


BRINGING_ABOUT = _stems(
    "manage managed continue continued proceed proceeded help helped happen "
    "happened go went gone come came serve served prove proved proven turn turned known found shown seen "
    "forced compelled obliged made led caused chose chosen remembered dared keep kept finish finished succeed "
    "succeeded spent saw heard"
)
"""Stems of words after which what somebody is said to do is done: `managed to open`, `kept opening`."""

ORDINALS = word_list("first last only next second third fourth fifth")

UNIVERSAL = word_list("all every each any anyone anybody everyone everybody everything whoever whatever")

CONTAINERS = word_list(
    "number total group groups series pair pairs set lot lots variety range sum amount handful dozen dozens hundreds "
    "thousands millions city town village county state province republic kingdom island river lake port parish "
    "district month year age body form type kind sort piece pieces mixture combination percent rest"
)
"""Words behind which stands what is meant: `the city of`, `a number of`."""

PARTS = word_list("one third quarter fifth tenth part portion fraction")

FACTIVE = _stems(
    "know known knew show shown prove proved find found discover discovered confirm confirmed establish "
    "established reveal revealed note noted learn learned learnt realise realised realize realized demonstrate "
    "demonstrated recall recalled remember remembered observe observed determine determined ensure ensured mean "
    "meant cause caused true clear evident certain fact result resulted happen happened turned see seen saw admit "
    "admitted point pointed record recorded regret regretted"
)
"""Stems of words after which what follows `that` is so."""

SUPPOSING = _stems(
    "imagine imagined dream dreamed dreamt fear feared hope hoped joke joked doubt doubted guess guessed assume "
    "assumed suspect suspected suppose believe believed think thought say says claim pretend pretended predict "
    "predicted suggest suggested allege rumour rumor"
)
"""Stems of words for what somebody says or thinks."""

SPEAKING = SUPPOSING | _stems(
    "boast boasted insist insisted maintain maintained write wrote argue argued contend contended assert asserted "
    "explain explained add added report reported tell told"
)
"""Those that stand between commas too: `, its makers boast,`."""

RECORDS = word_list(
    "census survey study statistics register clause section article act law rules rule map chart paragraph regulations "
    "standard plan treaty constitution charter"
)
"""Words for what says with authority, besides `FRAME`."""

FICTIONS = word_list(
    "legend legends myth myths mythology novel film movie story stories tale tales poem play fiction rumour rumours "
    "rumor rumors tradition folklore dream book series episode game song opera comic scenario hypothesis"
)

APPROXIMATELY = word_list("about around roughly approximately approx some circa ca nearly almost")
"""Words before a number that make it a rounded one."""

BOUNDS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("just", "over"), "just over"), (("slightly", "over"), "just over"), (("a", "little", "over"), "just over"),
    (("just", "above"), "just over"), (("slightly", "above"), "just over"), (("slightly", "more", "than"), "just over"),
    (("just", "more", "than"), "just over"), (("a", "little", "more", "than"), "just over"),
    (("just", "under"), "just under"), (("slightly", "under"), "just under"), (("just", "below"), "just under"),
    (("a", "little", "under"), "just under"), (("slightly", "below"), "just under"),
    (("slightly", "less", "than"), "just under"), (("just", "less", "than"), "just under"),
    (("close", "to"), "about"), (("nearly",), "just under"), (("almost",), "just under"),
    (("more", "than"), "over"), (("greater", "than"), "over"), (("over",), "over"), (("above",), "over"),
    (("at", "least"), "least"), (("less", "than"), "under"), (("fewer", "than"), "under"), (("under",), "under"),
    (("below",), "under"), (("at", "most"), "most"), (("up", "to"), "most"), (("no", "more", "than"), "most"),
    (("no", "fewer", "than"), "least"), (("no", "less", "than"), "least"), (("not", "more", "than"), "most"),
)  # fmt: skip
_BOUNDS_ENDING: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]] = {
    last: tuple(each for each in BOUNDS if each[0][-1] == last) for last in dict.fromkeys(w[-1] for w, _ in BOUNDS)
}


def bound_of(before: tuple[str, ...]) -> tuple[int, str] | None:
    """The bound that the last words (folded) before a number give it, and how many words say it; None: they give none.
    Of several the first in `BOUNDS`."""
    found = _BOUNDS_ENDING.get(before[-1], ()) if before else ()
    return next(((len(words), bound) for words, bound in found if before[-len(words) :] == words), None)


PERSONS = word_list(
    "people persons person inhabitants inhabitant residents resident citizens souls population populace populous "
    "individuals lived living live lives home resided residing populated inhabited dwelt"
)
"""Words for what a figure counts where its unit is people; a unit outside this list goes by its own words."""

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBERS: Mapping[str, int] = {
    **{word: n for n, word in enumerate(_UNITS.split())},
    **{word: 10 * n for n, word in enumerate(_TENS.split(), start=2)},
}
SCALES: Mapping[str, int] = {
    "hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "k": 10**3, "m": 10**6, "bn": 10**9
}  # fmt: skip
MULTIPLES = word_list(
    "twice double doubled doubles doubling triple tripled triples tripling treble trebled trebling thrice half halve "
    "halved halves halving third quarter quartered quadruple quadrupled quadrupling quintupled fold times"
)

_ALIKE = """
began begin start started commence commenced | end ended finish finished conclude concluded | big large |
call called name named term termed | build built construct constructed erect erected | locate located situate situated |
buy bought purchase purchased | make made produce produced | get got receive received obtain obtained |
important significant | main principal chief primary | rapidly quickly swiftly | common widespread |
use used employ employed utilise utilised utilize utilized | help aid assist assisted aided helped | whole entire |
show showed demonstrate demonstrated | kill killed slay slain slew | child children kid kids | difficult hard |
die died pass passed | marry married wed | near close | people persons | home house | found founded establish
established | near beside | get receive | happen occur happened occurred took | leave left depart departed |
arrive arrived reach reached | big huge enormous | small little tiny | movie film | author writer | author wrote |
frequently often | approximately about around roughly | however yet | therefore thus hence | ship vessel |
war conflict | battle fight | car automobile | doctor physician | attorney lawyer | create created form formed |
choose chose chosen select selected pick picked elect elected | appoint appointed name named |
border borders bordered bordering adjoin adjoins adjoining neighbour neighbours neighbor neighbors share shares |
sign signed conclude concluded | say said state stated | inhabitants residents people persons population |
get acquire acquired | contain contains contained include includes included | lie lies located situated lay
"""


def _groups() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for n, group in enumerate(_ALIKE.split("|")):
        for word in group.split():
            found.setdefault(word, set()).add(n)
    return {word: frozenset(groups) for word, groups in found.items()}


PRONOUNS: Mapping[str, str] = {
    word: group
    for group, words in {
        "he": "he him his himself",
        "she": "she her hers herself",
        "it": "it its itself",
        "they": "they them their theirs themselves",
        "we": "we us our ours ourselves",
        "i": "i me my mine myself",
        "you": "you your yours yourself yourselves",
    }.items()
    for word in words.split()
}
"""Pronouns by the person that they are of."""

ALIKE: Mapping[str, frozenset[int]] = _groups()
"""Words that may stand for each other: those that share a group."""

LEAD = re.compile(
    r"^\s*(?:according to|based on|as stated in|as per|per) (?:the |this )?(?:[a-z]+ ){0,2}?"
    r"(?:sources?|records?|tables?|texts?|passages?|documents?|evidence|data|census|reports?)(?:,| that)? "
    r"|^\s*the (?:sources?|records?|tables?|texts?|passages?|documents?|data) (?:says?|states?|shows?|reports?|"
    r"indicates?|notes?)(?: that|,|:)? ",
    re.IGNORECASE,
)
"""Words that introduce a statement without being part of it."""

SYMMETRIC = word_list(
    "border borders bordered bordering adjoin adjoins adjacent neighbour neighbours neighbor neighbors apart married"
)
"""Predicates of which the two sides may be exchanged."""

REPORTING = word_list(
    "said says claimed claims alleged believed thought suggested argued rumoured supposed denied doubted asked"
)
ABSTAINING = (
    "do not answer", "does not answer", "do not contain", "does not contain", "not enough information",
    "cannot answer", "can not answer", "unable to answer", "no information", "not mentioned", "do not provide",
    "does not provide", "do not mention", "does not mention", "i do not know", "i don't know", "not possible to answer",
    "do not say", "does not say", "insufficient evidence", "insufficient information",
)  # fmt: skip
