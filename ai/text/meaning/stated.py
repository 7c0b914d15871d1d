"""The finer kind of thing that a question asks to be stated: a time of day, a year, a colour, a sum, what something is
made of, how it came about. A sentence of the coarser kind does not answer: a date is not a time of day, nor a duration
a sum."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ai.text.amounts import LABEL, MONEY, TIME, amounts_of, measures_another, wanted_amount
from ai.text.question_type import WantedKind, denies, excludes_reason, offers, wanted_of
from ai.text.support import WORD, all_roots, fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import word_list
from retrieval.english.stems import root_of

_YEAR = r"(?<![\d,.])(?:1\d|20)\d\ds?(?!\d|[,.]\d)"
_TIME_OF_DAY = re.compile(
    r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2}\s?[ap]\.?m\b|\bo['’]clock\b|\b(?:noon|midday|midnight|dawn|dusk|daybreak|sunrise|sunset"
    r"|nightfall|mornings?|afternoons?|evenings?|nights?|lunch\w*|dinner|supper|breakfast|hours?|half\spast|quarter\s(?:past|to)"
    r"|dark)\b|\bat\s(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})\b",
    re.IGNORECASE,
)
_IN_YEAR = re.compile(
    _YEAR + r"|['’]\d\ds\b|\b(?:\d{1,2}(?:st|nd|rd|th)|\w+teenth|twentieth|twenty-first)[-\s]century\b"
    r"|\b(?:that|same|following|next|last|this|previous|first|second|third)\s(?:year|decade|century)\b"
    r"|\byears?\s(?:later|earlier|ago|after|before)\b",
    re.IGNORECASE,
)
_AGE = re.compile(
    _YEAR + r"|\b(?:aged?|ages|old|born|built|founded|century|birthday|years?|months?|weeks?)\b"
    r"|\b(?:am|is|was|are|were|be|at|over|under|least|than|by|turn(?:s|ed)?|reach(?:es|ed)?)\s(?:about\s|only\s|nearly\s|already\s)?"
    r"(?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|[a-z]{3,5}teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty)\b"
    r"(?!\s(?:of|per|[a-z]{3,}s)\b)",
    re.IGNORECASE,
)
_SO_LONG = re.compile(
    _YEAR + r"|\b(?:since|for|over|ever|from|until|always|whole|all|years?|decades?|months?|century|centuries)\b",
    re.IGNORECASE,
)
_STATED = (
    (
        re.compile(
            r"\b(?:what|which)\s(?:times?\b(?!\sof\s(?:the\s)?(?:year|life|season))|hours?\b)|\btime\sof\s(?:the\s)?day\b",
            re.IGNORECASE,
        ),
        _TIME_OF_DAY,
    ),
    (
        re.compile(r"\b(?:what|which)\s(?:years?|decades?|century|centuries)\b", re.IGNORECASE),
        _IN_YEAR,
    ),
    (
        re.compile(r"\bsince\swhen\b", re.IGNORECASE),
        re.compile(
            _YEAR + r"|\b(?:since|from|began|begun|begins?|started|starts?|founded|opened|became|joined|appointed|first"
            r"|for\s(?:the\s(?:last|past)\s)?[\w-]+\s(?:years?|months?|weeks?|days?|decades?))\b",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(r"\b(?:what|which)\scolou?rs?\b", re.IGNORECASE),
        re.compile(
            r"\b(?:red|green|blue|yellow|white|black|brown|grey|gray|pink|orange|purple|violet|gold(?:en)?|silver|beige|cream|scarlet"
            r"|crimson|turquoise|maroon|navy|amber|olive|tan|lilac|khaki|colou?rless|[a-z]{3,6}ish)\b",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(r"\bhow\sold\b", re.IGNORECASE),
        _AGE,
    ),
    (
        re.compile(r"\bhow\slong\s(?:has|have|had)\b", re.IGNORECASE),
        _SO_LONG,
    ),
    (
        re.compile(
            r"\bwhat(?:['’]s|\s(?:is|was|are|were))\s(?:the|your|our|its|his|her|their|my)\s(?:[\w'’-]{1,20}\s){0,2}?"
            r"(?:codes?|passwords?|numbers?|combination|pin|postcode|address|e-?mail|website)\b(?!\sof\s(?!the\b))",
            re.IGNORECASE,
        ),
        re.compile(r"\d|[\"“‘]|@|\bwww\b|https?:|\b(?:street|road|lane|avenue|square|nought|zero)\b", re.IGNORECASE),
    ),
    (
        re.compile(r"^\W*(?:who|what|which|when|where)\b.{0,40}?\b(?:will|shall)\b", re.IGNORECASE),
        re.compile(
            r"\b(?:will|shall|going\sto|(?:is|are|was|were)\s(?:due\s|expected\s)?to|to\sbe|plan\w*|next|due|until|from|can|may|must|should|would"
            r"|each|every|always|new|on\s\d|in\s20\d\d)\b|['’]ll\b|\b[a-z]{1,20}[^s\W]s\b",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(r"^\W*what\s(?:made|makes|caused|causes|led|prompted|drove|forced)\b", re.IGNORECASE),
        re.compile(
            r"\b(?:caus\w*|makes?|made|making|led|leads?|leading|prompt\w*|drove|driven|forc\w*|because|due|owing|thanks|since|so|as|when|after"
            r"|result\w*|through|from|by|bec[ao]mes?|becoming|turn\w*|brought|brings?|means?|meant|grew)\b",
            re.IGNORECASE,
        ),
    ),
)
"""Questions for a finer kind, and what a sentence has that states one."""
_SMALL_NUMBER = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})"
_TENS = r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
_STATED_TOO = (
    (
        _TIME_OF_DAY,
        re.compile(
            rf"\b(?:by|till|until|before|after|from|around|about)\s{_SMALL_NUMBER}\b(?!\s[a-z]+s\b)", re.IGNORECASE
        ),
    ),
    (_IN_YEAR, re.compile(rf"['’](?:\d\d|{_TENS}(?:-[a-z]+)?)\b", re.IGNORECASE)),
    (
        _AGE,
        re.compile(
            rf",\s\d{{1,3}}(?=[,.;]|\sand\b)|\b(?:him|her|me|us|them)\s(?:\d{{1,3}}|[a-z]{{3,5}}teen|{_TENS})\b",
            re.IGNORECASE,
        ),
    ),
    (
        _SO_LONG,
        re.compile(r"(?<![\w-])(?<!within\s)[\w-]+\s(?:hours?|minutes?|days?|weeks?|seasons?)\b", re.IGNORECASE),
    ),
)
"""By a pattern what else states the kind: `by four`, `in ’fifty-seven`, `Ida Roos, 41, was freed`, `only six days`."""
_HOW_OFTEN = re.compile(r"\bhow\s(?:often|frequently)\b", re.IGNORECASE)
_OFTEN = re.compile(
    r"\b(?:every|each|per|(?:half-|bi-?|semi-?|tri)?(?:hour|dai|night|week|fortnight|month|quarter|year|annual)ly|annual|biennial"
    r"|once|twice|thrice|times?|always|never|seldom|rarely|often|sometimes|occasionally|usually|frequently|regularly"
    r"|continuous(?:ly)?|whenever|when|if|unless|until|alternate|interval\w*|repeated\w*|any|all"
    r"|(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekday|weekend|morning|afternoon|evening|night)s"
    r"|an?\s(?:hour|day|night|week|fortnight|month|quarter|season|year|decade|century)"
    r"|the\s(?:first|second|third|fourth|last)\s(?:\w{1,20}\s)?(?:\w{3,6}day|day|week)"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w{2,6}teen|\w{3,5}ty|hundred|dozen|\d{1,3})\b",
    re.IGNORECASE,
)
_WHY = re.compile(r"\A\W*(?:why|what\scaused)\b", re.IGNORECASE)
_A_SUM = re.compile(
    r"\bhow\smuch\s(?:is|are|was|were)\s(?!\w{1,20}(?:ed|wn|en)\b|left\b|lost\b|there\b|(?:it|that|this)\b)"
    r"|\b(?:what|which)(?:['’]s|\s(?:is|was|are|were))?\s(?:(?:the|a|an|his|her|its|their|your|our|my)\s)?(?:[\w'’-]{1,30}\s){0,2}?"
    r"(?:fees?|prices?|costs?|fares?|rents?|fines?|deposits?|salary|salaries|wages?|rewards?|budgets?|premiums?)\b"
    r"|^\W*what\s(?:do|does|did|will|would|should|must|can)\s[^?]{1,60}\s(?:charge|cost|earn|owe)\b"
    r"(?!\s(?:[a-z]{1,20}\s)?(?:with|of|to)\W*\Z)",
    re.IGNORECASE,
)
_BY_HOW_MUCH = re.compile(r"\bby\show\smuch\b", re.IGNORECASE)
_NO_SUM = re.compile(r"\b(?:free|no\scharge|nothing|complimentary|waived|included)\b", re.IGNORECASE)
_BEHIND = {
    "of": re.compile(r"\b(?:of|from|out\sof|with|by)\b"),
    "from": re.compile(r"\b(?:from|out\sof|of|off)\b"),
    "with": re.compile(r"\b(?:with|by|using|in|of)\b"),
}
"""By the preposition that ends a question (`What is it made of?`) those that may follow the deed in an answer."""
_SIZE = re.compile(
    r"\bhow\s(?:big|large)\b(?!.*\b(?:budgets?|grants?|deposits?|funds?|loans?|prizes?|fines?|debts?|costs?|fees?|rewards?|rent|wage|gifts?"
    r"|donations?|share|sum|bill)\b)",
    re.IGNORECASE,
)
_DEED = re.compile(
    r"^\W*(?:who\s(?P<does>made|makes|gave|gives|found|finds)\s(?!up\b|out\b|sure\b)"
    r"|what\s(?:did|does|do)\s.{1,60}\s(?P<did>make|find|give)(?=\s(?:when|while|after|before|in|at|for|to|with|from|on)\b|\W*\Z))",
    re.IGNORECASE,
)
"""Deeds that other questions need not find said."""
_SIZED = re.compile(r"\b(?:size|big|bigger|large|larger|small|smaller)\b", re.IGNORECASE)
_ASKS_FIRST = re.compile(r"^\W*(?:who|whom|whose|where|when|why|which)\b", re.IGNORECASE)
_POSITIONS = word_list(
    "eastern western northern southern east west north south upper lower middle central left right front rear inner "
    "outer"
)
_BE = word_list("is are was were be been being get got")
_DONE = re.compile(r"[a-z]{2,20}(?:ed|en|de|lt|wn|ut|ung|und)")
_GOES_WITH = word_list(
    "die dies died suffer suffers suffered come comes came smell smells taste tastes escape escaped retire retired "
    "recover recovered derive derives derived"
)
_UNBOUND = word_list("comprised composed consisted")
"""`Committees comprise a few members` says what they are comprised of."""
_AFTER_DEED = 3
"""Words after the deed among which the preposition is."""
_HOW_DID = re.compile(r"^\W*how\s(?:did|was|were)\s", re.IGNORECASE)
_MANNER = re.compile(
    r"\b(?:by|with|using|through|when|while|as|after|from|under|via|because|on|in|into|at|[a-z]{1,20}(?:ly|ing))\b",
    re.IGNORECASE,
)
_ENUMERATED = re.compile(r"\A\W*\d+(?:\.\d+)*[.)]?\s(?=[A-Z])")
"""`4.3 Laundry may be claimed`: a number of the text's own."""
_COMPOUND = re.compile(
    r"\b(?P<number>\d+|one|two|three|four|five|six|seven|eight|nine|ten|single|double)-(?P<noun>[a-z]{3,})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Stated:
    """The demands on what a sentence states. `kinds`: patterns of the finer kinds; `money`: whether a sum is asked for;
    `deed` and `behind`: the root of a deed and the preposition that end the question; `manner`: whether it asks how
    something came about; `amount`: the question if it asks for a number; `compounds`: the numbers of its compounds by
    their noun (`two-bedroom`); `sized`: whether a size is asked for; `deeds`: roots of which the sentence says one;
    `positions`: those that are named (`the eastern arch`); `said`: the roots of its words; `reason`: whether it asks
    for the reason of what it does not deny."""

    kinds: tuple[tuple[re.Pattern[str], ...], ...]
    money: bool
    deed: str
    behind: str
    manner: bool
    amount: str
    compounds: tuple[tuple[str, str], ...]
    sized: bool
    deeds: frozenset[str]
    positions: frozenset[str]
    said: frozenset[str]
    reason: bool

    @classmethod
    def of(cls, question: str) -> Stated:
        """Reads the question."""
        counts = wanted_of(question) is WantedKind.NUMBER and not _ASKS_FIRST.match(question)
        return cls(
            tuple(
                (states, *(too for one, too in _STATED_TOO if one is states))
                for asks, states in (*_STATED, (_HOW_OFTEN, _OFTEN))
                if asks.search(question)
            ),
            _A_SUM.search(question) is not None and not _BY_HOW_MUCH.search(question),
            *_ending(question),
            _HOW_DID.match(question) is not None,
            question if counts else "",
            tuple(_compounds(question)),
            _SIZE.search(question) is not None,
            _deeds(question),
            _POSITIONS & {fold(word) for word in WORD.findall(question)},
            all_roots(question),
            _WHY.match(question) is not None and not denies(question),
        )

    def agrees(self, text: str, *, read: bool = False) -> bool:
        """True unless the sentence states nothing of the finer kind. `read`: a reader found that it answers."""
        return (
            self._states_kinds(text)
            and not (self.reason and excludes_reason(text))
            and (not self.money or _states_sum(text))
            and (read or not self.behind or self._goes_on(text))
            and (read or not self.manner or _MANNER.search(self._clause(text)) is not None)
            and (not self.amount or self._counts(text))
            and (not self.sized or self._has_size(text))
            and self._same_compounds(text)
            and self._says(text, read=read)
        )

    def finer(self, text: str) -> bool:
        """True if the sentence states the finer kind that is asked for, whatever it has of the coarser."""
        return bool(self.kinds) and self._states_kinds(text)

    def _states_kinds(self, text: str) -> bool:
        return all(any(states.search(text) for states in each) for each in self.kinds)

    def _has_size(self, text: str) -> bool:
        if _SIZED.search(text):
            return True
        return any(each.dimension not in (MONEY, TIME, LABEL) for each in amounts_of(text))

    def _goes_on(self, text: str) -> bool:
        """True if the preposition, or one like it, follows the deed, where that is said."""
        words = [fold(word) for word in WORD.findall(text)]
        after = [words[n + 1 : n + 1 + _AFTER_DEED] for n, word in enumerate(words) if root_of(word) == self.deed]
        return any(_BEHIND[self.behind].search(" ".join(said)) for said in after or [words])

    def _clause(self, text: str) -> str:
        """The clause, between semicolons, that says most of the question."""
        return max(text.split(";"), key=lambda side: len(self.said & all_roots(side)))

    def _counts(self, text: str) -> bool:
        wanted, listed = wanted_amount(self.amount), _ENUMERATED.match(text)
        if wanted is not None and measures_another(text, wanted):
            return False
        return listed is None or offers(text[listed.end() :], WantedKind.NUMBER, self.amount, loosely=True)

    def _same_compounds(self, text: str) -> bool:
        told = dict(_compounds(text)) if self.compounds else {}
        return all(told.get(noun, number) == number for noun, number in self.compounds)

    def _says(self, text: str, *, read: bool) -> bool:
        """True unless the deed is not said, or another position instead of one that is named. Who read that it answers
        needs no deed."""
        words = [fold(word) for word in WORD.findall(text)] if self.deeds or self.positions else []
        if not read and self.deeds and self.deeds.isdisjoint(map(root_of, words)):
            return False
        return not self.positions or not self.positions.isdisjoint(words) or _POSITIONS.isdisjoint(words)


def _deeds(question: str) -> frozenset[str]:
    found = _DEED.match(question)
    root = root_of(fold(found["does"] or found["did"])) if found else ""
    return and_alike({root}) if root else frozenset()


def _states_sum(text: str) -> bool:
    """True if it has a sum, or a number that may be one: a table says its currency once."""
    return _NO_SUM.search(text) is not None or any(
        each.dimension == MONEY or (each.dimension is None and not each.dated) for each in amounts_of(text)
    )


def _ending(question: str) -> tuple[str, str]:
    """The root of the deed and the preposition at the end of `What ...?`; empty without."""
    words = [fold(word) for word in WORD.findall(question)]
    if len(words) < 4 or words[0] not in {"what", "which", "who", "whom"} or words[-1] not in _BEHIND:
        return "", ""
    deed = words[-2]
    done = _DONE.fullmatch(deed) and not _BE.isdisjoint(words[1:-2])
    return (root_of(deed), words[-1]) if (done or deed in _GOES_WITH) and deed not in _UNBOUND else ("", "")


def _compounds(text: str) -> Iterator[tuple[str, str]]:
    for found in _COMPOUND.finditer(text):
        yield root_of(fold(found["noun"])), fold(found["number"])
