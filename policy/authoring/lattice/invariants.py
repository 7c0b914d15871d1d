"""Invariants over the whole lattice, as a small file (`vectors/invariants.toml`), and where they do not hold.

    schema = "exhibit.policy.invariants/1"
    ladder = [["ROLE", ...], ...]   every role on its step, the lowest step first; written here and not read from the
                                    data, so that data which lift a role are noticed
    [[never]]     no matching cell is visible, or searched (of a lifecycle alone a search does not know)
    [[always]]    every matching cell is visible
    [[obliged]]   every matching cell that is visible is under the obligation `op`
    [[monotone]]  more of `along` never shows or searches less (`grows`), or more (`shrinks`): a higher step of the
                  ladder, a higher label, a superset of tags or of groups held

    [[unreleased]]  of claims, not of cells: `policy.authoring.lattice.claims`
    [[removed]]     a shipped invariant that does not bind this bundle: `policy.authoring.lattice.binding`

Each has a `title`, and selects cells by what it names; what it does not name may be anything:

    role = ["..."]      below = "ROLE" (on lower steps)      without = "CAPABILITY" (roles that do not hold it)
    label = ["..."]     label_from = "LABEL" (and above)      lifecycle = ["..."]      named = ["no", "owner", "listed"]
    tenant = ["own", "other"]      groups = ["none", "own", "other"]
    tag = "TAG" (handling with it)      untagged = ["TAG", ...] (handling without any of these)
    holding = "GROUP"      not_holding = "GROUP" (`own` is the group that `groups = ["own"]` asks for)
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy.authoring.lattice.domain import Domain
from policy.authoring.lattice.lattice import AXES, OPS, Lattice, Value, axes_of
from policy.errors import InputRejected

SCHEMA = "exhibit.policy.invariants/1"
KINDS = ("never", "always", "obliged", "monotone")
MAX_SHOWN = 3
_LIFECYCLE = AXES.index("lifecycle")
Cells = NDArray[np.bool_]
_LISTS = ("role", "label", "lifecycle", "named", "tenant", "groups")
_WORDS = ("below", "without", "label_from", "tag", "holding", "not_holding")
_MORE = {"obliged": {"op"}, "monotone": {"along", "direction"}}


class InvariantsInvalid(InputRejected):
    """A file that holds no invariants, or such as would hold whatever the bundle does."""


@dataclass(frozen=True, slots=True)
class Invariant:
    """One of the file. `places` are the indices it selects on each axis; `order` those of a monotone one's axis as
    pairs (less, more)."""

    kind: str
    title: str
    places: tuple[tuple[int, ...], ...]
    op: str = ""
    axis: int = -1
    pairs: tuple[tuple[int, int], ...] = ()
    grows: bool = True


@dataclass(frozen=True, slots=True)
class BrokenInvariant:
    """An invariant that does not hold in `count` of `checked` cells (or pairs of cells); `examples` are the first."""

    title: str
    kind: str
    checked: int
    count: int
    examples: tuple[tuple[Mapping[str, Any], ...], ...]


def read_invariants(path: Path, domain: Domain) -> tuple[Invariant, ...]:
    """The invariants of the file. Raises InvariantsInvalid for what it cannot mean over this domain."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as exc:
        raise InvariantsInvalid(f"{path.name} cannot be read: {exc}") from exc
    return parse_invariants(document, domain)


def parse_invariants(document: Mapping[str, Any], domain: Domain) -> tuple[Invariant, ...]:
    """As `read_invariants`, from the parsed file."""
    if document.get("schema") != SCHEMA or not document.keys() <= {"schema", "ladder", "removed", "unreleased", *KINDS}:
        raise InvariantsInvalid(f"the invariants are not of the schema {SCHEMA}")
    reader = _Reader(domain, axes_of(domain), _steps(document.get("ladder"), domain))
    found = tuple(reader.invariant(kind, each) for kind in KINDS for each in document.get(kind, ()))
    if not found:
        raise InvariantsInvalid("there are no invariants, so nothing that the bundle does could break one")
    return found


def _steps(ladder: object, domain: Domain) -> dict[str, int]:
    """The step of each role, from 0."""
    listed = isinstance(ladder, list) and all(isinstance(step, list) for step in ladder)
    steps = (
        {str(role): n for n, step in enumerate(ladder) for role in step} if isinstance(ladder, list) and listed else {}
    )
    if steps.keys() != set(domain.roles):
        off = sorted(steps.keys() ^ set(domain.roles))
        raise InvariantsInvalid(f"the ladder of the invariants must name every role once: {', '.join(off)}")
    return steps


def broken(lattice: Lattice, invariants: Sequence[Invariant]) -> tuple[BrokenInvariant, ...]:
    """Those that do not hold, each with counterexamples."""
    found = (_judge(lattice, each) for each in invariants)
    return tuple(each for each in found if each.count)


def _judge(lattice: Lattice, rule: Invariant) -> BrokenInvariant:
    if rule.kind == "monotone":
        return _judge_order(lattice, rule)
    visible, wrong = lattice.visible[np.ix_(*rule.places)], _wrong_cells(lattice, rule)
    examples = [(lattice.cell(_place(rule.places, at)),) for at in _first(wrong & visible, wrong)]
    return BrokenInvariant(rule.title, rule.kind, wrong.size, int(wrong.sum()), tuple(examples))


def _wrong_cells(lattice: Lattice, rule: Invariant) -> Cells:
    chosen = np.ix_(*rule.places)
    visible = lattice.visible[chosen]
    match rule.kind:
        case "always":
            return ~visible
        case "obliged":
            return visible & ~_under(rule.op, lattice.obliged[chosen])
        case _ if len(rule.places[_LIFECYCLE]) < len(lattice.axes["lifecycle"]):
            return visible  # a class in the scope is searched whatever state its items are in
        case _:
            return visible | lattice.searched[chosen]


def _under(op: str, obliged: NDArray[np.uint8]) -> Cells:
    return (obliged >> OPS.index(op) & 1).astype(np.bool_)


def _judge_order(lattice: Lattice, rule: Invariant) -> BrokenInvariant:
    checked = count = 0
    examples: list[tuple[Mapping[str, Any], ...]] = []
    for less, more in rule.pairs:
        lower, upper = _at(rule.places, rule.axis, less), _at(rule.places, rule.axis, more)
        visible, searched = (_moved(each, lower, upper, rule.grows) for each in (lattice.visible, lattice.searched))
        wrong = visible | searched
        checked, count = checked + wrong.size, count + int(wrong.sum())
        pairs = ((lattice.cell(_place(lower, at)), lattice.cell(_place(upper, at))) for at in _first(visible, wrong))
        examples += list(pairs)[: MAX_SHOWN - len(examples)]
    return BrokenInvariant(rule.title, rule.kind, checked, count, tuple(examples))


def _moved(seen: Cells, lower: Sequence[Sequence[int]], upper: Sequence[Sequence[int]], grows: bool) -> Cells:
    """Where more shows less, though it should grow, or the other way round."""
    before, after = seen[np.ix_(*lower)], seen[np.ix_(*upper)]
    return before & ~after if grows else after & ~before


def _first(worse: Cells, wrong: Cells) -> list[tuple[int, ...]]:
    """The first places, of the worse ones where there are any."""
    return [tuple(int(n) for n in at) for at in np.argwhere(worse if worse.any() else wrong)[:MAX_SHOWN]]


def _place(places: Sequence[Sequence[int]], at: Sequence[int]) -> tuple[int, ...]:
    return tuple(chosen[n] for chosen, n in zip(places, at, strict=True))


def _at(places: tuple[tuple[int, ...], ...], axis: int, value: int) -> tuple[tuple[int, ...], ...]:
    return (*places[:axis], (value,), *places[axis + 1 :])


def _holds(group: str, held: bool) -> Callable[[Any], bool]:
    return lambda value: (group in value) is held


class _Reader:
    """Reads tables of the file over one domain; whatever does not mean anything there is an error with its title."""

    def __init__(self, domain: Domain, axes: Mapping[str, tuple[Value, ...]], steps: Mapping[str, int]) -> None:
        self._domain = domain
        self._axes = axes
        self._steps = steps

    def invariant(self, kind: str, table: Mapping[str, Any]) -> Invariant:
        """One table of that kind."""
        title = table.get("title")
        if not isinstance(title, str) or not title:
            raise InvariantsInvalid(f"an invariant of kind {kind} has no title")
        unknown = table.keys() - {"title", "untagged", *_LISTS, *_WORDS, *_MORE.get(kind, ())}
        if unknown:
            raise self._wrong(title, f"{', '.join(sorted(unknown))} is not known here")
        places = self._places(title, table)
        if kind == "obliged" and table.get("op") not in OPS:
            raise self._wrong(title, f"op must be one of {', '.join(OPS)}")
        if kind != "monotone":
            return Invariant(kind, title, places, op=str(table.get("op", "")))
        axis, pairs = self._order(title, table)
        if table.get("direction") not in ("grows", "shrinks"):
            raise self._wrong(title, "direction must be grows or shrinks")
        return Invariant(kind, title, places, axis=axis, pairs=pairs, grows=table["direction"] == "grows")

    def _places(self, title: str, table: Mapping[str, Any]) -> tuple[tuple[int, ...], ...]:
        tests = {axis: list(self._tests(title, axis, table)) for axis in AXES}
        found = {
            axis: tuple(n for n, value in enumerate(self._axes[axis]) if all(test(value) for test in tests[axis]))
            for axis in AXES
        }
        empty = [axis for axis in AXES if not found[axis]]
        if empty:
            raise self._wrong(title, f"it selects no {empty[0]}, so it would always hold")
        return tuple(found[axis] for axis in AXES)

    def _tests(self, title: str, axis: str, table: Mapping[str, Any]) -> Iterator[Callable[[Any], bool]]:
        data, labels = self._domain.data, self._domain.data.labels
        if axis in table:
            wanted = self._known(title, table[axis], self._axes[axis])
            yield lambda value: value in wanted
        if axis == "role" and "below" in table:
            step = self._steps[self._word(title, table["below"], data.roles)]
            yield lambda value: self._steps[value] < step
        if axis == "role" and "without" in table:
            capability = self._word(title, table["without"], data.capabilities)
            yield lambda value: capability not in data.roles[value].capabilities
        if axis == "label" and "label_from" in table:
            rank = labels[self._word(title, table["label_from"], labels)]
            yield lambda value: labels.get(value, -1) >= rank
        if axis == "handling" and "tag" in table:
            tag = self._word(title, table["tag"], {tag for tags in self._axes[axis] for tag in tags})
            yield lambda value: tag in value
        if axis == "handling" and "untagged" in table:
            tags = self._known(title, table["untagged"], {tag for tags in self._axes[axis] for tag in tags})
            yield lambda value: not tags & set(value)
        for key in ("holding", "not_holding"):
            if axis == "holds" and key in table:
                group = self._word(title, table[key], {"own", *self._domain.tag_groups})
                yield _holds(group, key == "holding")

    def _order(self, title: str, table: Mapping[str, Any]) -> tuple[int, tuple[tuple[int, int], ...]]:
        """The axis, and its pairs (less, more)."""
        along = self._word(title, table.get("along"), ("role", "label", "handling", "holds"))
        values = self._axes[along]
        if along in ("handling", "holds"):
            pairs = [(i, j) for i, a in enumerate(values) for j, b in enumerate(values) if set(a) < set(b)]
        else:
            ranks = self._steps if along == "role" else self._domain.data.labels
            ranked = [(n, ranks[str(value)]) for n, value in enumerate(values) if value in ranks]
            pairs = [(i, j) for i, a in ranked for j, b in ranked if a < b]
        if not pairs:
            raise self._wrong(title, "it orders nothing, so it would always hold")
        return AXES.index(along), tuple(pairs)

    def _known(self, title: str, wanted: object, known: Any) -> set[Any]:
        if not isinstance(wanted, list) or not wanted or not all(each in known for each in wanted):
            raise self._wrong(title, f"{wanted!r} is not a list of values that the data know")
        return set(wanted)

    def _word(self, title: str, word: object, known: Any) -> str:
        if not isinstance(word, str) or word not in known:
            raise self._wrong(title, f"{word!r} is not known to the data")
        return word

    def _wrong(self, title: str, why: str) -> InvariantsInvalid:
        return InvariantsInvalid(f"invariant {title!r}: {why}")
