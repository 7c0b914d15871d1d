"""Identity: a source is found again however it is named, so that a new label never leaves an old version answering.

A file is found by its place, then by its bytes where its old place is empty (it was moved). Whoever names a known file
in another way gets the same source, or a refusal that says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from retrieval.errors import SourceConflict
from retrieval.ingest.places import RealPaths
from retrieval.ingest.values import SourceSpec
from retrieval.registry.store import StoredFile
from retrieval.scope import VisibilityClass


@dataclass(frozen=True, slots=True)
class KnownFiles:
    """The files of a tenant's active documents, by place, by digest of their bytes, and the ids of their sources."""

    by_path: Mapping[str, StoredFile] = field(default_factory=dict)
    by_sha256: Mapping[str, StoredFile] = field(default_factory=dict)
    sources: frozenset[str] = frozenset()

    @classmethod
    def of(cls, files: Iterable[StoredFile]) -> KnownFiles:
        """Those files."""
        held = list(files)
        return cls(
            {each.path: each for each in held if each.path},
            {each.sha256: each for each in held},
            frozenset(each.document.source_id for each in held),
        )

    def found_again(self, source: SourceSpec, place: str, sha256: str, visibility: VisibilityClass) -> SourceSpec:
        """The source at that place under the name that it has already. Raises SourceConflict where its manifest calls
        it otherwise, or where the same bytes are elsewhere under other access facts."""
        known = self._known_as(source, place, sha256, visibility)
        return source if known in (None, source.source_id) else replace(source, source_id=known)

    def _known_as(self, source: SourceSpec, place: str, sha256: str, visibility: VisibilityClass) -> str | None:
        here = self.by_path.get(place)
        if here is not None and here.document.source_id != source.source_id:
            known = here.document.source_id
            if source.declared:
                raise SourceConflict(
                    f"{source.path.name} is already source {known}: withdraw that first, or call it so in the manifest"
                )
            return known
        same = self.by_sha256.get(sha256)
        if same is None or source.declared or source.source_id in self.sources:
            return None
        known = same.document.source_id
        if same.path and not Path(same.path).exists():
            return known
        if same.document.class_id != visibility.class_id:
            raise SourceConflict(
                f"{source.path.name} holds the same bytes as source {known}, which is under other access facts:"
                " label both alike, or withdraw that one"
            )
        return None


def places_of(sources: Iterable[SourceSpec]) -> list[str]:
    """The places of their files as they are stored: absolute, what is not UTF-8 spelled out. A manifest's links are
    followed; others are refused, and keep their own place."""
    paths = RealPaths()
    return [plain_name(paths.of(source.path, follow=source.declared)) for source in sources]


def plain_name(text: str) -> str:
    """The text with bytes that are not UTF-8 (as in names of files) spelled out."""
    return text.encode("utf-8", "backslashreplace").decode()
