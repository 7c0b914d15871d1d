"""How figures, places and lists read in a statement."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal

from retrieval.english.collectives import is_person
from retrieval.english.lists import word_list

CALENDAR_YEAR = "calendar year"
"""The unit of a figure that is itself a year."""
IS, HAS, OF = "listed:is:", "listed:has:", "listed:of:"
"""How the ids of groups begin whose names say how the things in them are (`diesel`), what they have, or whose column
says a name (`Breed: Beagle`)."""
_LISTED = 20
_SHORT = 3
"""The most letters of a unit that is a sign: `lbs`, `ms`."""


def number(value: Decimal, *, sign: bool = False) -> str:
    """Thousands separated, as many decimals as the figure has."""
    return f"{value:+,f}" if sign else f"{value:,f}"


def in_unit(said: str, unit: str) -> str:
    """A number in words with its unit, as a sentence says it: `12 km`, `9%`, `-$5`."""
    if unit == CALENDAR_YEAR:
        return said.replace(",", "")
    if unit in ("$", "£", "€"):
        sign = said[:1] if said[:1] in ("+", "-") else ""
        return f"{sign}{unit}{said.removeprefix(sign)}"
    words = unit.replace("_", " ")
    if said.lstrip("+-") == "1" and len(words) > _SHORT:
        words = singular(words)  # `1 year`
    return f"{said}%" if unit == "%" else f"{said} {words}".rstrip()


def difference_in(said: str, unit: str) -> str:
    """A difference of two figures with their unit; of two shares in per cent it is in points."""
    if unit == CALENDAR_YEAR:
        return f"{said} {'year' if said.lstrip('+-') == '1' else 'years'}"
    return f"{said} percentage points" if unit == "%" else in_unit(said, unit)


def tenths(value: Decimal) -> Decimal:
    """Rounded to one decimal, half away from zero; a whole number keeps none."""
    rounded = value.quantize(Decimal("0.1"), ROUND_HALF_UP)
    return rounded.to_integral_value() if rounded == rounded.to_integral_value() else rounded


def decimals_of(value: Decimal, inputs: Iterable[Decimal]) -> int:
    """The decimals that a mean or a median is told with: those of its inputs, of a small one three digits that count,
    at least one."""
    small = 2 - value.adjusted() if value and abs(value) < 1 else 0
    return max((1, small, *(-int(each.as_tuple().exponent) for each in inputs)))


def rounded(value: Decimal, decimals: int) -> Decimal:
    """Rounded half away from zero, without noughts at the end."""
    exact = value.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    whole = exact.to_integral_value()
    return whole if exact == whole else exact.normalize()


def lying_in(place_id: str, name: str, *, holds: bool = True) -> str:
    """`in Kansas`, `that are diesel`, `with free entry`: the phrase for what lies in a place or belongs to a group."""
    if place_id.startswith(IS):
        return f"that are {'' if holds else 'not '}{name}"
    if place_id.startswith(HAS):
        return f"{'with' if holds else 'not with'} {name}"
    if place_id.startswith(OF):
        return f"whose {column_of(place_id)} is {'' if holds else 'not '}{name}"
    return f"{'in' if holds else 'not in'} {name}"


def column_of(group: str) -> str:
    """The column whose cells a group is of, by its id: `breed` of `listed:of:breed:dog:beagle`."""
    return group.split(":")[2].replace("-", " ")


def kind_of(group: str) -> str:
    """The kind of the things in such a group: `dog`."""
    return group.split(":")[3]


def arranged(phrases: Sequence[str], n: int = 2, kind: str = "") -> str:
    """Conditions behind `n` things of a kind, so that each is said of these: `in Arden that are free and have a
    figure`, `with free entry and with a figure`; people are those `who are part-time`."""
    having = [phrase for phrase in phrases if phrase.startswith(("with ", "not with "))]
    being = [phrase for phrase in phrases if phrase.startswith(("that ", "whose "))]
    lying = [phrase for phrase in phrases if phrase not in having and phrase not in being]
    pronoun, verb = "who" if is_person(kind) else "that", "is" if n == 1 else "are"
    being = [f"{pronoun} {verb}{each[8:]}" if each.startswith("that are") else each for each in being]
    if being and having:
        that = f"{pronoun} " if being[-1].startswith("whose") else ""
        being[-1] += "".join(f" and {that}{_has(each, n)}" for each in having)
        having = []
    return "".join(f" {' and '.join(some)}" for some in (lying, being, having) if some)


def _has(phrase: str, n: int) -> str:
    """`with a figure` as the verb of `n` things: `has a figure`."""
    what = phrase.removeprefix("not ").removeprefix("with ")
    if phrase.startswith("not "):
        return f"{'does' if n == 1 else 'do'} not have {what}"
    return f"{'has' if n == 1 else 'have'} {what}"


def percent(part: Decimal, whole: Decimal) -> Decimal:
    """`part` in per cent of `whole`, to one decimal."""
    return (part * 100 / whole).quantize(Decimal("0.1"), ROUND_HALF_UP)


def kilometres(metres: int) -> str:
    """`12.3 km`."""
    return f"{(Decimal(metres) / 1000).quantize(Decimal('0.1'), ROUND_HALF_UP):,f} km"


_PAIRS = (
    "man men | woman women | child children | person people | foot feet | tooth teeth | goose geese | mouse mice | "
    "ox oxen | bus buses | wolf wolves | knife knives | life lives | wife wives | calf calves | half halves | "
    "leaf leaves | loaf loaves | shelf shelves | thief thieves | scarf scarves | hero heroes | potato potatoes | "
    "tomato tomatoes | cattle cattle | livestock livestock | poultry poultry | sheep sheep | fish fish | deer deer | "
    "aircraft aircraft | series series | species species"
)
_IRREGULAR: Mapping[str, str] = dict(pair.split() for pair in _PAIRS.split("|"))
_ALONE = {many: one for one, many in _IRREGULAR.items()}
_COMPOUND, _COMPOUNDS = re.compile(r"(\w{2,30})(man|wife|child)"), re.compile(r"(\w{2,30})(men|wives|children)")
_WHOLE = word_list("abdomen caiman german human norman ottoman regimen roman shaman specimen talisman")
"""Words that only end like `foreman` and `foremen`."""


def plural(kind: str) -> str:
    """`county` -> `counties`, `valley` -> `valleys`, `parish` -> `parishes`, `fire chief` -> `fire chiefs`."""
    lead, word = _parted(kind.replace("_", " "))
    if word in _IRREGULAR:
        return lead + _IRREGULAR[word]
    if (found := _COMPOUND.fullmatch(word)) and word not in _WHOLE:
        return lead + found[1] + _IRREGULAR[found[2]]
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{lead}{word[:-1]}ies"
    return lead + word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def singular(noun: str) -> str:
    """`bridges` -> `bridge`, `cities` -> `city`, `classes` -> `class`; any other word as it is."""
    lead, word = _parted(noun)
    if word in _ALONE:
        found = _ALONE[word]
    elif (made := _COMPOUNDS.fullmatch(word)) and word not in _WHOLE:
        found = made[1] + _ALONE[made[2]]
    elif word.endswith("ies"):
        found = word[:-3] + "y"
    elif word.endswith(("sses", "xes", "ches", "shes")):
        found = word[:-2]
    else:
        found = word.removesuffix("s")
    return lead + found if found and plural(found) == word else noun


def _parted(noun: str) -> tuple[str, str]:
    lead, blank, word = noun.rpartition(" ")
    return lead + blank, word


def with_article(noun: str) -> str:
    """`a height`, `an age`, `an hourly rate`, `a unit price`."""
    return f"{'an' if _AN.match(noun) else 'a'} {noun}"


_AN = re.compile(
    r"(?!(?:uni(?!n)|use|usa|util|eu|one\b|once\b|ukr|ura))[aeiou]|hour|heir|honou?r|honest", re.IGNORECASE
)


def counted(n: int, kind: str) -> str:
    """`1 county`, `105 counties`."""
    return f"{n:,} {kind.replace('_', ' ') if n == 1 else plural(kind)}"


def listed(names: Sequence[str], *, most: int = _LISTED) -> str:
    """`A`, `A and B`, `A, B and C`; after `most` of them the rest is counted."""
    shown, rest = list(names[:most]), len(names) - most
    if rest > 0:
        shown.append(f"{rest:,} more")
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]


def either(names: Sequence[str]) -> str:
    """`A`, `A or B`, `A, B or C`."""
    return " or ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])


def quantity(measure: str, unit: str | None) -> str:
    """The unit of the figure: people are `inhabitants`, else the unit, else nothing."""
    return "inhabitants" if measure == "population" else (unit or "").replace("_", " ")
