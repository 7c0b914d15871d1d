"""The kinds that the files of a run, and what is stored, tell of places: a place whose kind its own file does not tell
is the one of that name and access class whose kind another tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from retrieval.index import GazetteerEntry
from retrieval.ingest.records.kinds import is_kind, is_untold
from retrieval.ingest.records.templates import slug

_Place = tuple[str, str]
"""Access class and slug of the name."""


@dataclass(slots=True)
class KindsTold:
    """The kinds by place, and the places of which a file, by its position in the run, does not tell the kind."""

    told: dict[_Place, set[str]] = field(default_factory=dict)
    untold: dict[int, set[_Place]] = field(default_factory=dict)

    @property
    def is_needed(self) -> bool:
        """True if anything was read of a place."""
        return bool(self.told or self.untold)

    def note(self, entries: Iterable[GazetteerEntry], position: int | None = None) -> bool:
        """Notes the kinds that entries tell, and for the file at that position the places whose kind they do not tell;
        true if there are any."""
        for entry in entries:
            entity = entry.entity
            place = entry.class_id, slug(entity.name)
            if is_untold(entity.entity_id, entity.name):
                if position is not None:
                    self.untold.setdefault(position, set()).add(place)
            elif is_kind(entity.type) and entity.entity_id == f"{entity.type}:{place[1]}":
                self.told.setdefault(place, set()).add(entity.type)
        return position in self.untold

    def of(self, position: int) -> Mapping[str, str]:
        """The kinds of the file's places, by the slug of the name: the one that all of those have whose kind is told
        elsewhere, as a column names places of one kind, else each its own where exactly one is told."""
        told = {place[1]: self.told[place] for place in sorted(self.untold.get(position, ())) if place in self.told}
        shared = set.intersection(*told.values()) if told else set()
        if len(shared) == 1:
            return dict.fromkeys(told, *shared)
        return {name: next(iter(kinds)) for name, kinds in told.items() if len(kinds) == 1}
