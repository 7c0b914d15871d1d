"""How figures, places and lists read in a statement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal

CALENDAR_YEAR = "calendar year"
"""The unit of a figure that is itself a year."""
IS, HAS, OF = "listed:is:", "listed:has:", "listed:of:"
"""How the ids of groups begin whose names say how the things in them are (`diesel`), what they have, or whose column
says a name (`Breed: Beagle`)."""
_LISTED = 20


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
    return f"{said}%" if unit == "%" else f"{said} {unit.replace('_', ' ')}".rstrip()


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


def agreeing(conditions: str, n: int) -> str:
    """The phrase of groups behind `1 car`: `that is diesel`; any other as it is."""
    return (
        f" that is{conditions.removeprefix(' that are')}"
        if n == 1 and conditions.startswith(" that are")
        else conditions
    )


def with_figure(conditions: str) -> str:
    """Said of things whose figures have no time, behind the words for which of them are meant: of others there may be
    none."""
    if conditions.startswith(" that are"):
        return " and have a figure"
    if conditions.startswith(" that is"):
        return " and has a figure"
    return " and with a figure" if conditions.startswith(" with ") else " with a figure"


def percent(part: Decimal, whole: Decimal) -> Decimal:
    """`part` in per cent of `whole`, to one decimal."""
    return (part * 100 / whole).quantize(Decimal("0.1"), ROUND_HALF_UP)


def kilometres(metres: int) -> str:
    """`12.3 km`."""
    return f"{(Decimal(metres) / 1000).quantize(Decimal('0.1'), ROUND_HALF_UP):,f} km"


def plural(kind: str) -> str:
    """`county` -> `counties`, `valley` -> `valleys`, `parish` -> `parishes`, `state` -> `states`."""
    word = kind.replace("_", " ")
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def counted(n: int, kind: str) -> str:
    """`1 county`, `105 counties`."""
    return f"{n:,} {kind.replace('_', ' ') if n == 1 else plural(kind)}"


def listed(names: Sequence[str], *, most: int = _LISTED) -> str:
    """`A`, `A and B`, `A, B and C`; after `most` of them the rest is counted."""
    shown, rest = list(names[:most]), len(names) - most
    if rest > 0:
        shown.append(f"{rest:,} more")
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]


def quantity(measure: str, unit: str | None) -> str:
    """The unit of the figure: people are `inhabitants`, else the unit, else nothing."""
    return "inhabitants" if measure == "population" else (unit or "").replace("_", " ")
