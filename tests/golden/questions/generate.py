"""Questions that cross the constructs at random, with the specification of what each asks. A function of the seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from tests.golden.questions.bank import Question
from tests.golden.questions.gold import Doubtful
from tests.golden.questions.world import World

STRANGE = (
    "Lutheran", "left-handed", "Bavarian", "rural", "white", "unmarried", "prosperous", "irrigated", "wooden", "hidden", "literate",
)  # fmt: skip
EXCEPT = ("apart from", "except", "excluding", "other than", "except for", "not counting", "leaving out")


@dataclass(frozen=True)
class Kind:
    """A kind of place: how it is called, the sets of it that can be asked, and its measure with the years that it has."""

    one: str
    many: tuple[str, ...]
    sets: tuple[tuple[str, str], ...]
    measure: str
    nouns: tuple[str, ...]
    years: tuple[int, ...]
    limits: tuple[int, ...]
    outlined: bool


@dataclass(frozen=True)
class Vocabulary:
    """The words for a corpus. A set of a kind is what follows the kind's name, and its expression."""

    kinds: Mapping[str, Kind]
    centres: tuple[str, ...]


KANSAS = Vocabulary(
    {
        "county": Kind("county", ("counties",), (("", "counties"), (" of Kansas", "counties"), (" in Kansas", "counties")), "population",
            ("people", "inhabitants", "residents"), (1900, 1910, 1920, 1930, 1940, 1950), (3000, 7500, 12000, 20000, 45000), True),
        "city": Kind("city", ("cities", "towns"), tuple((f" in {s}", f"cities('{s}')") for s in ("Kansas", "Missouri", "Nebraska")), "population",
            ("people", "inhabitants", "residents"), (1880, 1900, 1910, 1930, 1950), (2500, 5000, 10000, 30000), False),
    },
    ("Topeka", "Wichita", "Salina", "Emporia", "Dodge City", "Hays"),
)  # fmt: skip
SKERROW = Vocabulary(
    {
        "parish": Kind("parish", ("parishes",), (("", "all('parish')"), (" on Norrick", "all('parish', 'Norrick')")), "sheep",
            ("sheep",), tuple(range(1970, 1980)), (1000, 2500, 5000), True),
        "harbour": Kind("harbour", ("harbours",), (("", "all('harbour')"), (" on Sundrey", "all('harbour', 'Sundrey')")), "vessels",
            ("vessels",), tuple(range(1970, 1980)), (50, 150, 400), False),
    },
    ("Port Annick", "Eastmole", "Inchport"),
)  # fmt: skip
VOCABULARIES = {"kansas": KANSAS, "skerrow": SKERROW}
ORDINALS = ("second", "third", "fourth", "fifth")


@dataclass(frozen=True)
class Chosen:
    """A set in words (what follows "which counties") and as an expression."""

    kind: Kind
    plural: str
    tail: str
    expression: str


def generated(name: str, world: World, seed: int, number: int) -> Iterator[Question]:
    """`number` questions with gold; those whose answer is doubtful are dropped."""
    chance, vocabulary, made = random.Random(seed), VOCABULARIES[name], 0
    while made < number:
        form = FORMS[made % len(FORMS)]
        text, expression, *context = form(chance, vocabulary, world)
        gold = "abstain" if "abstain" in expression else expression
        question = Question(
            f"gen-{seed}-{made}", f"random {form.__name__}", text, (gold,), context=context[0] if context else {}
        )
        try:
            question.golds(world)
        except (Doubtful, ZeroDivisionError):
            continue
        made += 1
        yield question


def listed(chance: random.Random, words: Vocabulary, world: World) -> tuple[str, str]:
    some = _set(chance, words, world)
    ask = chance.choice(("Which {}{}?", "List the {}{}.", "Name all {}{}.", "What {}{}?"))
    if ask.startswith(("List", "Name")):
        return ask.format(some.plural, _that(some.tail)), some.expression
    return ask.format(some.plural, some.tail or " are there"), some.expression


def counted(chance: random.Random, words: Vocabulary, world: World) -> tuple[str, str]:
    some = _set(chance, words, world)
    return f"How many {some.plural}{some.tail or ' are there'}?", f"count({some.expression})"


def ranked(chance: random.Random, words: Vocabulary, world: World) -> tuple[str, str]:
    some = _set(chance, words, world, filters=(0, 1))
    year, noun = chance.choice(some.kind.years), chance.choice(some.kind.nouns)
    key, n = f"by('{some.kind.measure}', {year})", chance.randint(2, 5)
    comma = "," if "," in some.tail else ""
    of = f"the {some.plural}{_that(some.tail)}{comma}"
    forms = (
        (f"Which of {of} had the most {noun} in {year}?", f"top({some.expression}, 1, {key})"),
        (f"Which of {of} had the fewest {noun} in {year}?", f"bottom({some.expression}, 1, {key})"),
        (f"Which {n} of {of} had the most {noun} in {year}?", f"top({some.expression}, {n}, {key})"),
        (f"Which of {of} had the {ORDINALS[n - 2]} most {noun} in {year}?", f"nth({some.expression}, {n}, {key})"),
    )
    return chance.choice(forms)


def aggregated(chance: random.Random, words: Vocabulary, world: World) -> tuple[str, str]:
    some = _set(chance, words, world, filters=(0, 1))
    year, measure = chance.choice(some.kind.years), some.kind.measure
    how, word = chance.choice((("total", "combined"), ("mean", "average"), ("median", "median"), ("total", "total")))
    what = measure if measure == "population" else f"number of {measure}"
    of = f"the {some.plural}{_that(some.tail)}"
    return f"What was the {word} {what} in {year} of {of}?", f"{how}({some.expression}, '{measure}', {year})"


def composed(chance: random.Random, words: Vocabulary, world: World) -> tuple[Any, ...]:
    """A figure of what a rank gives, a multiple, a set without a set, and what a box of the map shows."""
    kind = words.kinds[chance.choice(list(words.kinds))]
    base, expression = chance.choice(kind.sets)
    one, other = chance.sample(_names(kind, world), 2)
    year, noun, m, n = chance.choice(kind.years), chance.choice(kind.nouns), kind.measure, chance.randint(2, 5)
    many, key = kind.many[0], f"by('{m}', {year})"
    noun_of = m if m == "population" else f"number of {m}"
    box = _box(chance, words, world)
    shown = f"in_box(all('{kind.one}'), {', '.join(map(str, box))})"
    forms: list[tuple[Any, ...]] = [
        (f"What was the combined {noun_of} of the {n} {many}{base} with the most {noun} in {year}?", f"total(top({expression}, {n}, {key}), '{m}', {year})"),
        (f"What was the average {noun_of} of the {n} {many}{base} with the fewest {noun} in {year}?", f"mean(bottom({expression}, {n}, {key}), '{m}', {year})"),
        (f"How many times as many {noun} as {other} did {one} have in {year}?", f"ratio('{m}', {_quoted(one)}, {_quoted(other)}, {year})"),
        (f"How many {many} are shown here?", f"count({shown})", {"bbox": box}),
        (f"Which {many} on this map had more than {kind.limits[0]:,} {noun} in {year}?", f"having({shown}, '>', {kind.limits[0]}, {key})", {"bbox": box}),
        (f"Which {kind.one} here had the most {noun} in {year}?", f"top({shown}, 1, {key})", {"bbox": box}),
        (f"Which {chance.choice(STRANGE)} {many} are shown here?", "abstain", {"bbox": box}),
        (f"How many times as many {noun} as {other} did {one} not have in {year}?", "abstain"),
        (f"How many {many} are the {n} with the most {noun} in {year}?", "abstain"),
    ]  # fmt: skip
    if kind.outlined:
        forms.append((f"All {many}{base} except those that border {one} and {one} itself", f"({expression}) - border({expression}, {_quoted(one)}) - only({_quoted(one)})"))  # fmt: skip
    return chance.choice(forms)


def _box(chance: random.Random, words: Vocabulary, world: World) -> list[float]:
    """A box of a map around one of the centres."""
    point = next(p.point for p in world.by_name[chance.choice(words.centres)] if p.point is not None)
    wide, high = chance.uniform(0.2, 1.0), chance.uniform(0.2, 0.8)
    return [round(point[0] - wide, 2), round(point[1] - high, 2), round(point[0] + wide, 2), round(point[1] + high, 2)]


def single(chance: random.Random, words: Vocabulary, world: World) -> tuple[str, str]:
    """A question about one place or two, by name."""
    kind = words.kinds[chance.choice(list(words.kinds))]
    one, other = chance.sample(_names(kind, world), 2)
    year, later = sorted(chance.sample(kind.years, 2))
    noun, m = chance.choice(kind.nouns), kind.measure
    a, b = _quoted(one), _quoted(other)
    forms = [
        (f"How many {noun} did {one} have in {year}?", f"figure('{m}', {a}, {year})"),
        (f"How many more {noun} did {one} have in {later} than in {year}?", f"change('{m}', {a}, {year}, {later})"),
        (f"By how many per cent did the number of {noun} in {one} change between {year} and {later}?", f"growth('{m}', {a}, {year}, {later})"),
        (f"What was the difference in {noun} between {one} and {other} in {year}?", f"less('{m}', {a}, {b}, {year})"),
        (f"Which had fewer {noun} in {year}, {one} or {other}?", f"greater('{m}', {year}, {a}, {b}, least=1)"),
        (f"Which had more {noun} in {year}, {one} or {other}?", f"greater('{m}', {year}, {a}, {b})"),
        (f"What was the ratio of the number of {noun} in {one} to that in {other} in {year}?", f"ratio('{m}', {a}, {b}, {year})"),
        (f"How many {chance.choice(STRANGE)} {noun} did {one} have in {year}?", "abstain"),
        (f"How many {noun} per household did {one} have in {year}?", "abstain"),
        (f"How many {noun} did {one}, Ohio, have in {year}?", "abstain"),
        (f"How many {noun} did {one} have in {later + 3}?" if later + 3 not in kind.years else f"How many {noun} did {one} have in 1789?", "abstain"),
    ]  # fmt: skip
    if kind.outlined:
        forms += [
            (f"How many {noun} per square mile did {one} have in {year}?", f"density('{m}', {a}, {year}, miles=1)"),
            (f"What is the area of {one}?", f"area({a})"),
            (f"What was the combined number of {noun} in {one} and {other} in {year}?", f"total(only({a}, {b}), '{m}', {year})"),
        ]  # fmt: skip
    else:
        forms += [
            (f"How far is {one} from {other}?", f"distance({a}, {b})"),
            (f"How many miles is {one} from {other} by road?", "abstain"),
        ]
    return chance.choice(forms)


def events(chance: random.Random, words: Vocabulary, world: World) -> tuple[str, str]:
    """Treaties by year, years and nation, or storms by year and island."""
    treaties = any(e.kind == "treaty" for e in world.events)
    if not treaties:
        island, year = chance.choice(("Norrick", "Sundrey", "Velmarsh", "Oxel")), chance.randint(1971, 1978)
        forms = [
            (f"Which storms struck {island} after {year}?", f"events('storm', who='{island}', start={year + 1})"),
            (
                f"How many storms struck {island} before {year}?",
                f"count(events('storm', who='{island}', end={year - 1}))",
            ),
            (f"Which storms did not strike {island}?", f"events('storm') - events('storm', who='{island}')"),
            (f"Which storms came before {year}?", f"events('storm', end={year - 1})"),
            (f"Which islands were struck in {year}?", f"who(events('storm', year={year}))"),
            (
                f"Which storms struck both {island} and Tarn Holm?",
                f"events('storm', who='{island}') & events('storm', who='Tarn Holm')",
            ),
            (f"Which islands came before {year}?", "abstain"),
            (f"Which {chance.choice(STRANGE).lower()} islands were struck in {year}?", "abstain"),
        ]
        return chance.choice(forms)
    nation = chance.choice(("Osage", "Pawnee", "Kickapoo", "Omaha", "Comanche", "Arapaho", "Iowa", "Ponca"))
    year, decade = chance.choice((1825, 1835, 1846, 1851, 1854, 1865)), chance.choice((1820, 1830, 1850, 1860))
    of, other = f"who='nation:{nation}'", chance.choice([y for y in (1825, 1846, 1854, 1865, 1867) if y != year])
    forms = [
        (f"How many treaties did the {nation} sign?", f"count(treaties({of}))"),
        (f"How many treaties did the {nation} sign before {year}?", f"count(treaties({of}, end={year - 1}))"),
        (f"Which treaties did the {nation} sign after {year}?", f"treaties({of}, start={year + 1})"),
        (f"Which treaties did the {nation} sign in the {decade}s?", f"treaties({of}, start={decade}, end={decade + 9})"),
        (f"How many treaties were signed in the {decade}s?", f"count(treaties(start={decade}, end={decade + 9}))"),
        (f"Which nations other than the {nation} signed treaties in {year}?", f"who(treaties(year={year})) - only('nation:{nation}')"),
        (f"Which treaties of {year} were not signed by the {nation}?", f"unshared(treaties(year={year}), treaties({of}))"),
        (f"When did the {nation} sign their first treaty?", f"day(first(treaties({of})))"),
        (f"Which {chance.choice(STRANGE).lower()} treaties did the {nation} sign?", "abstain"),
        (f"Which nations signed treaties in both {year} and {other}?", f"who(treaties(year={year})) & who(treaties(year={other}))"),
        (f"Which nations signed treaties in {year} but not in {other}?", f"who(treaties(year={year})) - who(treaties(year={other}))"),
        (f"How many nations signed treaties in {year} but not in {other}?", f"count(who(treaties(year={year})) - who(treaties(year={other})))"),
        (f"Which treaties did the {nation} sign together with the Cheyenne?", f"shared(treaties({of}), treaties(who='nation:Cheyenne'))"),
        (f"Did the {nation} sign a treaty in {year}?", f"is_in('nation:{nation}', who(treaties(year={year})))"),
    ]  # fmt: skip
    return chance.choice(forms)


def mapped(chance: random.Random, words: Vocabulary, world: World) -> tuple[str, str, dict[str, Any]]:
    """What the map shows stands for "here": a place of the corpus, or one that it does not hold."""
    kind = words.kinds[chance.choice(list(words.kinds))]
    name, year = chance.choice(_names(kind, world)), chance.choice(kind.years)
    noun, m, a = chance.choice(kind.nouns), kind.measure, _quoted(name)
    strange = chance.choice((f"{name}, Ohio", "Atlantis", f"New {name}", f"{name}, Tasmania"))
    far = [round(chance.uniform(60, 100), 1), round(chance.uniform(-30, 10), 1)]
    box = [*far, round(far[0] + 2, 1), round(far[1] + 2, 1)]
    ask = f"How many {noun} were there here in {year}?"
    forms: list[tuple[str, str, dict[str, Any]]] = [
        (ask, f"figure('{m}', {a}, {year})", {"place": name}),
        (f"How many {noun} were there here?", f"figure('{m}', {a}, {year})", {"place": name, "year": year}),
        (ask, "abstain", {"place": strange}),
        (ask, "abstain", {"bbox": box}),
        (ask, "abstain", {"place_id": f"{kind.one}:{chance.randint(90000, 99999)}"}),
        (f"Which {kind.many[0]} are here?", "abstain", {"bbox": box}),
        (f"How many {chance.choice(STRANGE)} {noun} were there here in {year}?", "abstain", {"place": name}),
    ]
    if kind.outlined:
        forms.append(
            (f"Which {kind.many[0]} border this {kind.one}?", f"border(all('{kind.one}'), {a})", {"place": name})
        )
    return chance.choice(forms)


def misspelt(chance: random.Random, words: Vocabulary, world: World) -> tuple[str, str]:
    """One letter of a name is wrong, and no other name is as near."""
    kind = words.kinds[chance.choice(list(words.kinds))]
    names = [n for n in _names(kind, world) if len(n) > 6 and n.isascii()]
    name, year = chance.choice(names), chance.choice(kind.years)
    at, letter = chance.randint(1, 4), chance.choice("aeinorst")
    wrong = chance.choice(
        (name[:at] + name[at + 1 :], name[:at] + letter + name[at:], name[:at] + letter + name[at + 1 :])
    )
    near = [p for p in world.by_name if p != name and get_close_matches(wrong, [p], cutoff=0.85)]
    noun = chance.choice(kind.nouns)
    gold = f"figure('{kind.measure}', {_quoted(name)}, {year})"
    if wrong == name or not near:
        return f"How many {noun} did {wrong} have in {year}?", gold
    return f"How many {noun} did {name} have in {year}?", gold


FORMS: Sequence[Callable[[random.Random, Vocabulary, World], tuple[Any, ...]]] = (
    listed, counted, ranked, aggregated, single, events, mapped, misspelt, composed,
)  # fmt: skip


def _set(chance: random.Random, words: Vocabulary, world: World, filters: tuple[int, int] = (1, 2)) -> Chosen:
    """A set of places, cut by one or two filters that are joined by "and"."""
    kind = words.kinds[chance.choice(list(words.kinds))]
    base, expression = chance.choice(kind.sets)
    phrases = []
    for make in chance.sample(_FILTERS, chance.randint(*filters)):
        phrase, expression = make(chance, words, world, kind, expression)
        phrases.append(phrase)
    tail = base + (" " + " and ".join(phrases) if phrases else "")
    if chance.random() < 0.25:
        names = chance.sample(_names(kind, world), chance.randint(1, 2))
        tail += f", {chance.choice(EXCEPT)} {' and '.join(names)}"
        expression = f"({expression}) - only({', '.join(map(_quoted, names))})"
    plural = chance.choice(kind.many)
    if chance.random() < 0.06:
        return Chosen(kind, f"{chance.choice(STRANGE)} {plural}", tail, "abstain")
    return Chosen(kind, plural, tail, expression)


def _near(chance: random.Random, words: Vocabulary, world: World, kind: Kind, expression: str) -> tuple[str, str]:
    centre, km = chance.choice(words.centres), chance.choice((25, 40, 60, 90, 150))
    if chance.random() < 0.4:
        return f"lie more than {km} km from {centre}", f"beyond({expression}, {km}, {_quoted(centre)})"
    unit, value = chance.choice((("km", f"{km}"), ("miles", f"miles({km})")))
    return f"lie within {km} {unit} of {centre}", f"within({expression}, {value}, {_quoted(centre)})"


def _size(chance: random.Random, words: Vocabulary, world: World, kind: Kind, expression: str) -> tuple[str, str]:
    year, limit, noun = chance.choice(kind.years), chance.choice(kind.limits), chance.choice(kind.nouns)
    key = f"by('{kind.measure}', {year})"
    phrase, how = chance.choice((
        ("had more than", "'>'"), ("had fewer than", "'<'"), ("had at least", "'>='"), ("had no more than", "'<='"),
        ("did not have more than", "'<='"),
    ))  # fmt: skip
    if chance.random() < 0.2:
        high = limit * 3
        return f"had between {limit:,} and {high:,} {noun} in {year}", f"between({expression}, {limit}, {high}, {key})"
    return f"{phrase} {limit:,} {noun} in {year}", f"having({expression}, {how}, {limit}, {key})"


def _change(chance: random.Random, words: Vocabulary, world: World, kind: Kind, expression: str) -> tuple[str, str]:
    year, later = sorted(chance.sample(kind.years, 2))
    verb, how = chance.choice((("lost", "'<'"), ("gained", "'>'")))
    noun = chance.choice(kind.nouns)
    key = f"by_change('{kind.measure}', {year}, {later})"
    return f"{verb} {noun} between {year} and {later}", f"having({expression}, {how}, 0, {key})"


def _border(chance: random.Random, words: Vocabulary, world: World, kind: Kind, expression: str) -> tuple[str, str]:
    """Bordering a place, or two, or not; a kind of points is near or far instead."""
    if not kind.outlined:
        return _near(chance, words, world, kind, expression)
    one, other = chance.sample(_names(kind, world), 2)
    a, b = f"border({expression}, {_quoted(one)})", f"border({expression}, {_quoted(other)})"
    forms = (
        (f"border {one}", a),
        (f"border {one} or {other}", f"{a} | {b}"),
        (f"border {one} but not {other}", f"({a}) - {b} - only({_quoted(other)})"),
        (f"do not border {one}", f"({expression}) - {a} - only({_quoted(one)})"),
    )
    return chance.choice(forms)


_FILTERS = (_near, _size, _change, _border)


def _names(kind: Kind, world: World) -> list[str]:
    """The names of a kind that only one place on the map bears."""
    mapped = [p for p in world.places.values() if p.shape is not None]
    names = [p.name for p in mapped]
    return sorted(p.name for p in mapped if p.kind == kind.one and names.count(p.name) == 1)


def _quoted(name: str) -> str:
    return repr(name)


def _that(tail: str) -> str:
    """A relative clause of what follows a kind's name."""
    at = re.search(r" (?:border|do not|lie|had|did not|lost|gained)\b", tail)
    return f"{tail[: at.start()]} that{tail[at.start() :]}" if at else tail
