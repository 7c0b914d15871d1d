"""Which time belongs to which figure: a time belongs to the figures before it, up to the time before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ai.intent.phrases import Phrases
from ai.intent.times import TimeSpan


@dataclass(frozen=True, slots=True)
class Mark:
    """A figure (`bound`, `change`, `top`, `figure`) or a `time`, by its place in the list of its kind."""

    kind: str
    place: int = 0


@dataclass(slots=True)
class _Group:
    """Figures with one time after them."""

    marks: list[Mark] = field(default_factory=list)
    times: tuple[TimeSpan, ...] = ()

    def has(self, *kinds: str) -> bool:
        return any(mark.kind in kinds for mark in self.marks)


def bind(found: Phrases, marks: Sequence[Mark]) -> None:
    """Gives the conditions that have times of their own these times, and leaves those of the figure that is asked for
    in `times`. Nothing changes where one time is for all."""
    groups, leading = _groups(found, marks)
    if groups:
        _inherited(groups, leading)
    if len(groups) < 2:
        return
    main = [g for g in groups if g.has("top")] or [g for g in groups if not g.has("bound", "change")]
    if len(main) > 1:
        found.scattered.append(True)
        return
    changes = list(found.changes)
    found.changes = []
    for group in groups:
        for mark in group.marks:
            if mark.kind == "bound" and group not in main:
                found.bounds[mark.place] = replace(found.bounds[mark.place], times=group.times)
            elif mark.kind == "change" and group in main:
                found.changes.append(changes[mark.place])
            elif mark.kind == "change" and group.has("bound"):
                found.scattered.append(True)
            elif mark.kind == "change":
                found.moved.append(replace(changes[mark.place], times=group.times))
    found.times = list(main[0].times) if main else []


def _inherited(groups: Sequence[_Group], leading: Sequence[TimeSpan]) -> None:
    """A last group without a time has the leading one; else, where it has nothing to do with a change, that of the
    group before it."""
    last = groups[-1]
    if not last.times:
        last.times = tuple(leading)
    if not last.times and len(groups) > 1 and not (last.has("change") or groups[-2].has("change")):
        last.times = groups[-2].times


def _groups(found: Phrases, marks: Sequence[Mark]) -> tuple[list[_Group], list[TimeSpan]]:
    """The figures by their times, and the times before the first figure."""
    groups, leading = list[_Group](), list[TimeSpan]()
    for mark in marks:
        if mark.kind == "time" and not groups:
            leading.append(found.times[mark.place])
        elif mark.kind == "time":
            groups[-1].times = (*groups[-1].times, found.times[mark.place])
        elif not groups or groups[-1].times:
            groups.append(_Group([mark]))
        else:
            groups[-1].marks.append(mark)
    return groups, leading
