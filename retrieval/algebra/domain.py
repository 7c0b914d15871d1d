"""The kinds in the admitted corpus: which figures of which kinds of place, and which relations. The words of a
question get their meaning from it, so that no list of kinds or measures stands in the code."""

from __future__ import annotations

from dataclasses import dataclass, replace

CONTAINMENT = "located_in"
"""The predicate of a relation that puts its subject inside its object."""


@dataclass(frozen=True, slots=True)
class FigureKind:
    """A measure as it is recorded of one kind of place, with its unit; `undated` where its figures have no time."""

    measure: str
    unit: str
    kind: str
    undated: bool = False


@dataclass(frozen=True, slots=True)
class RelationKind:
    """A predicate between two types of entity."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class Domain:
    """The kinds of figures and relations of one scope, each once, in alphabetical order."""

    figures: tuple[FigureKind, ...] = ()
    relations: tuple[RelationKind, ...] = ()

    @property
    def dated(self) -> Domain:
        """The domain without the figures that have no time, and without the relations of what only they are of."""
        return replace(self, figures=tuple(figure for figure in self.figures if not figure.undated))

    @property
    def apart(self) -> Domain:
        """The domain without the figures that have no time where others of the kind and the measure have one: these
        are never put together."""
        dated = {(figure.measure, figure.kind) for figure in self.dated.figures}
        kept = (each for each in self.figures if not each.undated or (each.measure, each.kind) not in dated)
        return replace(self, figures=tuple(kept))

    @property
    def measures(self) -> tuple[str, ...]:
        """Every measure once."""
        return tuple(dict.fromkeys(figure.measure for figure in self.figures))

    @property
    def things(self) -> frozenset[str]:
        """Types that relations speak of and that lie nowhere: treaties, nations, events. The object of a bare verb
        (`signed`) is one; that of a verb with a preposition (`signed_at`) is where or when."""
        told = [r for r in self.relations if r.predicate != CONTAINMENT]
        speaking = {r.subject for r in told}
        acted_on = {r.object for r in told if r.object == "date" or "_" not in r.predicate}
        return frozenset((speaking | acted_on) - self._measured - self._contained)

    @property
    def _measured(self) -> set[str]:
        return {figure.kind for figure in self.figures}

    @property
    def _contained(self) -> set[str]:
        return {kind for r in self.relations if r.predicate == CONTAINMENT for kind in (r.subject, r.object)}

    def units(self, measure: str) -> frozenset[str]:
        """The units in which a measure is recorded."""
        return frozenset(figure.unit for figure in self.figures if figure.measure == measure)

    def kinds_with(self, measure: str) -> tuple[str, ...]:
        """The kinds of place for which there is a figure of the measure."""
        return tuple(dict.fromkeys(figure.kind for figure in self.figures if figure.measure == measure))

    def around(self, kind: str) -> frozenset[str]:
        """The kinds that places of this kind lie in, at any depth."""
        found: set[str] = set()
        fresh = {kind}
        while fresh:
            fresh = {
                r.object
                for r in self.relations
                if r.predicate == CONTAINMENT and r.subject in fresh and r.object not in found
            }
            found |= fresh
        return frozenset(found - {kind})

    def widest(self, kind: str) -> str | None:
        """The outermost kind that places of this kind lie in; None where there is none, or several."""
        outer = self.around(kind)
        tops = [one for one in outer if not self.around(one)]
        return tops[0] if len(tops) == 1 else None

    def finest(self, measure: str) -> str | None:
        """The one kind with figures of a measure that holds no other such kind: what may be added up."""
        kinds = self.kinds_with(measure)
        holding = {outer for kind in kinds for outer in self.around(kind)}
        leaves = [kind for kind in kinds if kind not in holding]
        return leaves[0] if len(leaves) == 1 else None
