"""Fates of people and things, by field: of the states of one field each is another one, so that a text which tells
that nine were injured does not tell how many were killed. Words of like meaning are in `alike`, plain contraries in
`opposites`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from retrieval.english.lists import word_list
from retrieval.english.stems import root_of, stem

_FIELDS = (
    "kill die perish drown slay murder massacre assassinate ~ fatal fatality deadly life lose claim toll "
    "casualty fall execute behead hang shoot poison victim crush succumb / injure hurt wound maim ~ casualty "
    "victim burn / missing / rescue survive save* ~ alive safe escape bring pull lift / "
    "evacuate ~ move leave / trap / capture ~ prisoner take",
    "accuse charge indict ~ prosecute / arrest detain ~ seize custody / convict ~ guilty sentence jail imprison "
    "condemn prison / acquit ~ innocent clear / sentence jail imprison condemn ~ convict prison term / release ~ "
    "free / pardon / execute behead hang ~ death die kill",
    "apply ~ applicant candidate / admit enrol enroll ~ accept join enter begin start take place / graduate ~ degree "
    "diploma complete finish / expel ~ dismiss / shortlist",
    "born ~ birth / baptise baptize christen ~ baptism / die perish drown kill ~ dead death lose / bury ~ "
    "funeral grave tomb lie rest cemetery",
    "marry wed ~ wife husband spouse wedding / engage betroth / divorce ~ separate",
    "propose introduce draft recommend ~ suggest / adopt approve enact ratify pass* carry* ~ law force effect "
    "agree vote / veto reject ~ refuse defeat / repeal abolish revoke",
    "laiddown ~ keel / launch ~ / commission / sink* wreck* ~ lose / scrap ~ break",
    "build construct erect ~ date complete raise rise found make / rebuild reconstruct / restore renovate refurbish "
    "repair* / demolish dismantle raze / inaugurate open*",
    "buy purchase acquire ~ sell+to sale pay cost price fetch owner own / sell ~ buy+from sale pay cost price fetch / "
    "lease rent hire* borrow ~ tenant tenancy / inherit ~ heir leave will / bequeath donate ~ give gift / steal ~ "
    "theft thief",
    "nominate shortlist ~ nomination / win award receive* ~ winner",
    "nominate ~ nomination / elect appoint hire recruit ~ become join begin start win make take / resign quit ~ "
    "leave / dismiss sack / retire",
    "plant sow ~ put / harvest reap ~ pick / order / deliver ~ arrive bring come",
    "lay / hatch ~ / fledge",
    "infect ~ catch case ill / recover ~ well / vaccinate inoculate ~ vaccine jab / hospitalise hospitalize ~ "
    "hospital / die ~ dead death life",
    "invite ~ invitation / attend ~ come present gather join part turn",
    "earn ~ wage pay income make / spend ~ cost pay / borrow ~ loan lend / repay / owe ~ debt / pledge ~ promise / "
    "donate ~ give / invest",
    "write* compose publish print* ~ author appear release / translate / stage perform ~ / film",
    "start begin commence ~ from since first open / stop halt ~ until till last end over",
    "propose ~ proposal proposer / second ~ / abstain ~ abstention",
    "invent devise ~ inventor introduce develop design create make / patent",
    "lend ~ borrow+from / borrow ~ lend+to",
    "lose mislay / find discover* recover* locate*",
    "break smash vandalise / repair mend* fix* / inspect",
    "fill refill / empty drain",
    "heat warm / cool chill refrigerate",
    "freeze / thaw defrost",
    "lengthen / shorten",
    "widen broaden / narrow",
    "tighten / loosen",
    "inflate / deflate",
    "attach fasten* / detach unfasten",
    "enable / disable",
    "encrypt / decrypt",
    "encode / decode",
    "upload / download",
    "enter / exit leave*",
    "ascend go+up / descend go+down",
    "board get+on / alight disembark get+off",
    "plug+in / unplug",
    "switch+on turn+on power+on ~ plug+in / switch+off turn+off power+off shut+down ~ unplug",
    "turn+up / turn+down",
    "log+in log+on sign+in sign+on / log+out log+off sign+out sign+off",
    "check+in / check+out",
    "move+in / move+out",
    "put+on / take+off",
    "put+up set+up / take+down",
    "put+out take+out / bring+in take+in fetch+in",
    "put+out blow+out extinguish / light",
    "pick+up collect* / drop+off return*",
    "hand+out give+out / hand+in hand+back give+back bring+back return*",
)
"""Behind `~` are words that go with the state and are no other one; a word with a star, which has other senses, is none
either. `switch+on` is a verb with a particle."""
_UNDOING = {
    "un": "lock wrap zip mount load install subscribe pack screw fasten tie button block bolt chain cover seal fold",
    "dis": "connect arm mount engage assemble",
    "de": "activate compress",
}
"""By a syllable the deeds that it undoes."""
_TRADES = (("buy", "sell"), ("purchase", "sell"), ("sell", "buy"), ("lend", "borrow"), ("borrow", "lend"))
TRADES = {root_of(one): root_of(other) for one, other in _TRADES}
"""By the root of a deed that of which it is the other side: tickets are bought where they are sold."""
_DEEDS_ALONE = frozenset(
    map(
        root_of,
        word_list(
            "charge release plant order stage film engage sow commission lease save open graduate second break repair "
            "find empty drain heat warm cool chill narrow light board arm lock wrap zip mount load pack screw tie "
            "button block bolt chain cover seal fold"
        ),
    )
)
"""Words that tell a state as a verb alone: not `in order to`, `the power plant`."""


@dataclass(frozen=True, slots=True)
class State:
    """One state of a field, as roots: the words that `ask` for it, those that `tell` of it alone, and all that go with
    it."""

    asks: frozenset[str]
    tells: frozenset[str]
    goes_with: frozenset[str]


def _states(field: str) -> Iterator[State]:
    for state in field.split("/"):
        said, _, beside = state.partition("~")
        words = said.split()
        asks = frozenset(_root(word.rstrip("*")) for word in words)
        tells = frozenset(_root(word) for word in words if not word.endswith("*"))
        yield State(asks, tells, asks.union(map(_root, beside.split())))


def _root(word: str) -> str:
    """The root of a word, or of a verb before its particle."""
    verb, plus, particle = word.partition("+")
    return f"{root_of(verb)}{plus}{particle}"


_EVERY = (*_FIELDS, *(f"{deed} / {syllable}{deed}" for syllable, deeds in _UNDOING.items() for deed in deeds.split()))
_STEMS = frozenset(stem(word.strip("*")) for field in _EVERY for word in field.split())
FIELDS = tuple(tuple(_states(field)) for field in _EVERY)
"""The states of each field."""
PHRASES = frozenset(word for field in FIELDS for state in field for word in state.goes_with if "+" in word)
"""The verbs with a particle, as `root+particle`."""
UNDONE = frozenset(root_of(deed) for deeds in _UNDOING.values() for deed in deeds.split())
"""The roots of deeds that a syllable undoes."""


def is_deed_alone(root: str) -> bool:
    """True for the root of a word that tells a state as a verb alone."""
    return root in _DEEDS_ALONE


def is_doer(word: str) -> bool:
    """True for whoever does what a root says, as `killer` and `launcher` are, and no `recover`."""
    return word.endswith(("er", "ers", "or", "ors")) and stem(word) not in _STEMS and stem(word) != root_of(word)
