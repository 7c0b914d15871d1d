"""Turns of a true sentence into a false one, each of one kind: quotations, names, dates, units, members of lists."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence

from api.measure.eval.drafting.model import Told

Turn = Callable[[str, random.Random, Sequence[Told]], str | None]

_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z’'-]{2,}")
_YEAR = re.compile(r"(?<![\d.,-])1[0-9]{3}(?![\d.,-]\d|\d|s)")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAY = re.compile(rf"\b({'|'.join(MONTHS)}) ([12]?\d|3[01])\b|\b([12]?\d|3[01]) ({'|'.join(MONTHS)})\b")
_LIST = re.compile(r"([A-Z][\w’'-]+), ([A-Z][\w’'-]+),? and ([A-Z][\w’'-]+)\b")
_UNITS = (
    ("miles", "kilometres"), ("mile", "kilometre"), ("feet", "metres"), ("acres", "square miles"), ("dollars", "cents"),
    ("million", "billion"), ("thousand", "million"), ("years", "months"), ("days", "weeks"), ("hours", "minutes"),
    ("months", "years"), ("weeks", "days"), ("pounds", "tons"), ("centuries", "decades"), ("century", "decade"),
    ("billion", "million"), ("kilometres", "miles"), ("percent", "percentage points"), ("inches", "feet"),
)  # fmt: skip
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_CARDINALS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty")
_TIMES = (
    ("before", "after"), ("until", "since"), ("since", "before"), ("after", "before"), ("during", "after"),
    ("by", "after"), ("from", "to"), ("into", "out of"), ("above", "under"), ("over", "under"), ("with", "without"),
    ("because", "although"), ("although", "because"), ("and", "but not"), ("unless", "if"), ("if", "even if"),
    ("to", "from"), ("against", "for"), ("inside", "outside"), ("within", "beyond"), ("except", "including"),
    ("including", "except"), ("like", "unlike"), ("despite", "because of"), ("toward", "away from"),
)  # fmt: skip
_ADJECTIVES = ("fake", "former", "unfinished", "secret", "German", "wooden", "alleged", "famous", "stolen", "last")
_MODALS = (("was", "may have been"), ("were", "would have been"), ("is", "might be"), ("are", "should be"))
_PASSIVE = re.compile(r"^(.{3,60}?) (?:was|were) (\w+ed) by (.{3,80})\.$")
_OPPOSITES = (
    ("possible", "impossible"), ("able", "unable"), ("legal", "illegal"), ("known", "unknown"), ("direct", "indirect"),
    ("agreed", "disagreed"), ("regular", "irregular"), ("important", "unimportant"), ("common", "uncommon"),
    ("visible", "invisible"), ("complete", "incomplete"), ("appeared", "disappeared"), ("usual", "unusual"),
    ("dependent", "independent"), ("equal", "unequal"), ("successful", "unsuccessful"), ("formal", "informal"),
    ("official", "unofficial"), ("approved", "disapproved"), ("happy", "unhappy"), ("married", "unmarried"),
    ("peaceful", "violent"), ("refused", "agreed"), ("increase", "decrease"), ("arrived", "departed"),
    ("wealthy", "poor"), ("strong", "weak"), ("white", "black"), ("young", "old"), ("left", "right"), ("day", "night"),
    ("north", "west"), ("southern", "eastern"), ("upper", "lower"), ("male", "female"), ("son", "daughter"),
    ("uncle", "aunt"), ("left", "entered"), ("first", "second"), ("always", "sometimes"), ("city", "village"),
)  # fmt: skip


def _whole(word: str) -> str:
    return rf"(?<![\w-]){re.escape(word)}(?![\w-])"


def _one_of(pairs: Sequence[tuple[str, str]], sentence: str, draw: random.Random) -> str | None:
    fitting = [(a, b) for a, b in pairs if re.search(_whole(a), sentence)]
    if not fitting:
        return None
    old, new = draw.choice(fitting)
    at = draw.choice(list(re.finditer(_whole(old), sentence)))
    return sentence[: at.start()] + new + sentence[at.end() :]


def _in_order(series: Sequence[str], sentence: str, draw: random.Random) -> str | None:
    """A member of a series replaced by another."""
    return _one_of([(one, draw.choice([x for x in series if x != one])) for one in series], sentence, draw)


def _quoted(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """A quotation in which one word is another's."""
    found = list(re.finditer(r"(?<![\w-])[a-z]{5,}(?![\w-])", sentence))
    foreign = [w for told in others[:30] for w in re.findall(r"\b[a-z]{5,}\b", told.sentence) if w not in sentence]
    if not found or not foreign:
        return None
    at = draw.choice(found)
    turned = sentence[: at.start()] + draw.choice(foreign) + sentence[at.end() :]
    return draw.choice(('The source says: "{}"', "According to the text, “{}”", '"{}"')).format(turned)


def _initial(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """A name with another first letter."""
    found = [m for m in _NAME.finditer(sentence) if m[0] not in MONTHS]
    if not found:
        return None
    at = draw.choice(found)
    letter = draw.choice([c for c in "BCDFGHKLMNPRST" if c != at[0][0]])
    return sentence[: at.start()] + letter + sentence[at.start() + 1 :]


def _year_digit(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    found = list(_YEAR.finditer(sentence))
    if not found:
        return None
    at = draw.choice(found)
    digits = list(at[0])
    n = draw.randrange(1, 4)
    digits[n] = draw.choice([d for d in "0123456789" if d != digits[n]])
    year = "".join(digits)
    return None if year in sentence else sentence[: at.start()] + year + sentence[at.end() :]


def _day(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """Another day, or another month."""
    found = list(_DAY.finditer(sentence))
    if not found:
        return None
    at = draw.choice(found)
    month, day = (at[1], at[2]) if at[1] else (at[4], at[3])
    if draw.random() < 0.5:
        turned = at[0].replace(month, draw.choice([m for m in MONTHS if m != month]))
    else:
        turned = re.sub(rf"\b{day}\b", str(int(day) % 28 + 1), at[0])
    return sentence[: at.start()] + turned + sentence[at.end() :]


def exchanged(pattern: re.Pattern[str], sentence: str, draw: random.Random) -> str | None:
    """The sentence with two different finds of the pattern exchanged, which words lie between."""
    found = list(pattern.finditer(sentence))
    pairs = [(a, b) for i, a in enumerate(found) for b in found[i + 1 :] if a[0] != b[0]]
    pairs = [(a, b) for a, b in pairs if len(sentence[a.end() : b.start()].split()) > 1]
    if not pairs:
        return None
    a, b = draw.choice(pairs)
    return sentence[: a.start()] + b[0] + sentence[a.end() : b.start()] + a[0] + sentence[b.end() :]


def _dates_exchanged(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    return exchanged(_YEAR, sentence, draw)


def _listed(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """A list with one member that is not in it."""
    found = _LIST.search(sentence)
    foreign = [m[0] for told in others[:60] for m in _NAME.finditer(told.sentence) if m[0] not in sentence]
    if found is None or not foreign:
        return None
    n = draw.choice((1, 2, 3))
    return sentence[: found.start(n)] + draw.choice(foreign) + sentence[found.end(n) :]


def _unit(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    return _one_of(_UNITS, sentence, draw)


def _ordinal(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    found = re.search(r"\b(\d{1,2})(st|nd|rd|th)\b", sentence)
    if found is not None:
        n = int(found[1]) + draw.choice((1, 2))
        tail = "th" if 10 < n % 100 < 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
        return f"{sentence[: found.start()]}{n}{tail}{sentence[found.end() :]}"
    return _in_order(_ORDINALS, sentence, draw)


def _spelt(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    return _in_order(_CARDINALS, sentence, draw)


def _small_word(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """A preposition or conjunction that turns the meaning."""
    return _one_of(_TIMES, sentence, draw)


def _only(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """`only` where the sentence has none."""
    if re.search(r"\b(?:only|sole|alone|just)\b", sentence):
        return None
    found = list(re.finditer(r"\b(?:in|by|for|with|on|at|from) (?=[A-Z\d])", sentence))
    found += list(re.finditer(r"\b(?:was|were|is|are) (?=[a-z])", sentence))
    if not found:
        return None
    at = draw.choice(found)
    word = draw.choice(("only", "solely", "exclusively"))
    if at[0].split()[0] in ("was", "were", "is", "are"):
        return f"{sentence[: at.end()]}{word} {sentence[at.end() :]}"
    return f"{sentence[: at.start()]}{word} {sentence[at.start() :]}"


def _first(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """A superlative that the source does not hold."""
    found = list(re.finditer(r"\b(?:a|an) (?=[a-z]{4,})", sentence))
    if not found:
        return None
    at, most = draw.choice(found), draw.choice(("the first", "the largest", "the only", "the most famous", "the last"))
    return f"{sentence[: at.start()]}{most} {sentence[at.end() :]}"


def _denied_twice(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """Two denials around a wrong year or number, or around nothing."""
    if sentence.split(maxsplit=1)[0] not in ("The", "In", "A", "It", "He", "She"):
        return None
    low = sentence[:1].lower() + sentence[1:]
    frame = draw.choice(
        (
            "It is not true that {}",
            "No one denies that it is false that {}",
            "It is a myth that {}",
            "Nobody says that {}",
        )
    )
    return frame.format(low)


def _adjective(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    found = list(re.finditer(r"\b(?:the|his|her|its|their) (?=[a-z]{4,})", sentence))
    if not found:
        return None
    at, word = draw.choice(found), draw.choice(_ADJECTIVES)
    return None if word in sentence else f"{sentence[: at.end()]}{word} {sentence[at.end() :]}"


def _modal(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    return _one_of(_MODALS, sentence, draw)


def _activated(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """The doer of a deed and the one it was done to, exchanged."""
    found = _PASSIVE.match(sentence)
    if found is None:
        return None
    agent = found[3][:1].upper() + found[3][1:]
    return draw.choice((f"{found[1]} {found[2]} {found[3]}.", f"{agent} was {found[2]} by {found[1]}."))


def _opposite(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    both = [pair for a, b in _OPPOSITES for pair in ((a, b), (b, a))]
    return _one_of(both, sentence, draw)


def _pronoun(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    pairs = (("he", "she"), ("his", "her"), ("He", "She"), ("His", "Her"), ("she", "he"), ("She", "He"), ("they", "he"),
             ("their", "his"), ("him", "them"), ("it", "he"), ("its", "his"), ("I", "you"), ("we", "they"))  # fmt: skip
    return _one_of(pairs, sentence, draw)


def _two_sentences(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """The beginning of one sentence and the end of another of the same passage."""
    home = next((told.passage for told in others if told.sentence == sentence), "")
    near = [s for s in re.split(r"(?<=[.!?])\s+(?=[A-Z])", home) if s != sentence and s.endswith(".")]
    cut = re.search(r" (?:was|were|is|are|had|has|became|built|made) ", sentence)
    for other in draw.sample(near, len(near)):
        theirs = re.search(r" (?:was|were|is|are|had|has|became|built|made) ", other)
        if cut is not None and theirs is not None and theirs[0] == cut[0] and len(other[theirs.end() :].split()) > 2:
            return sentence[: cut.start()] + other[theirs.start() :]
    return None


def _other_clause(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """The subject of the first clause with what the second says of another subject."""
    verb = r"(?:was|were|had|has|is|are|became|began|won|made|took|built)"
    found = re.match(
        rf"^((?:The |A |An )?[A-Z]?[\w’'-]+(?: [A-Z][\w’'-]+)*) {verb} [^,;]+(?:,|;) (?:and|but|while|whereas) "
        rf"(?:the |an? )?[A-Z]?[\w’'-]+(?: [A-Z]?[\w’'-]+)? ({verb} .+)$",
        sentence,
    )
    return None if found is None else f"{found[1]} {found[2]}"


def _left_out(sentence: str, draw: random.Random, others: Sequence[Told]) -> str | None:
    """A word left out on which the truth hangs."""
    words = (
        "almost", "nearly", "hardly", "not", "never", "no", "only", "some", "few", "most", "may", "could", "would",
        "planned to", "tried to", "attempted to", "failed to", "wanted to", "hoped to", "refused to", "allegedly",
        "reportedly", "supposedly", "said to", "believed to", "expected to", "partly", "half", "former", "proposed",
    )  # fmt: skip
    fitting = [w for w in words if re.search(_whole(w) + " ", sentence)]
    return re.sub(_whole(draw.choice(fitting)) + " ", "", sentence, count=1) if fitting else None


KINDS: Mapping[str, Turn] = {
    "quotation": _quoted,
    "initial": _initial,
    "year with one digit off": _year_digit,
    "other day": _day,
    "dates exchanged": _dates_exchanged,
    "list with one wrong": _listed,
    "other unit": _unit,
    "ordinal": _ordinal,
    "spelt number": _spelt,
    "small word": _small_word,
    "only": _only,
    "superlative": _first,
    "denied twice": _denied_twice,
    "adjective added": _adjective,
    "mode": _modal,
    "agent and object": _activated,
    "opposite": _opposite,
    "pronoun": _pronoun,
    "two sentences": _two_sentences,
    "other clause": _other_clause,
    "word left out": _left_out,
}
