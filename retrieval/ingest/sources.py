"""Which sources a run takes in: those of a manifest, or the files that the paths name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from retrieval.errors import ManifestError
from retrieval.ingest.load import MEDIA_TYPES
from retrieval.ingest.manifest import Manifest, read_manifest
from retrieval.ingest.values import SourceSpec

MANIFEST = "manifest.toml"


def sources_of(paths: Sequence[Path], manifest: Path | None) -> tuple[tuple[SourceSpec, ...], dict[str, str]]:
    """The sources in order, and the titles of collections. With a manifest (given, or `manifest.toml` in a folder
    that is named) only what it lists is taken; without, every file of a kind that is read. Raises `ManifestError`."""
    sources: list[SourceSpec] = []
    titles: dict[str, str] = {}
    if manifest is not None:
        read = read_manifest(manifest)
        titles |= read.collections
        sources += _named(read, paths)
        paths = ()
    for path in paths:
        if (path / MANIFEST).is_file():
            read = read_manifest(path / MANIFEST)
            titles |= read.collections
            sources += read.sources
        else:
            sources += _derived(path)
    _check_unique(sources)
    return tuple(sources), titles


def _named(manifest: Manifest, paths: Sequence[Path]) -> Iterator[SourceSpec]:
    wanted = [path.resolve() for path in paths]
    for source in manifest.sources:
        if not wanted or any(source.path.resolve().is_relative_to(path) for path in wanted):
            yield source


def _derived(path: Path) -> Iterator[SourceSpec]:
    if not path.is_dir():
        yield _source(path, path.name)
        return
    for file in sorted(path.rglob("*")):
        inside = file.relative_to(path)
        if file.is_file() and file.suffix.lower() in MEDIA_TYPES and not any(p.startswith(".") for p in inside.parts):
            yield _source(file, ".".join((path.resolve().name, *inside.parts)))


def _source(path: Path, name: str) -> SourceSpec:
    source_id = re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-._")[:80] or "file"
    return SourceSpec(path=path, source_id=source_id, title=re.sub(r"[_-]+", " ", path.stem).strip() or path.name)


def _check_unique(sources: Sequence[SourceSpec]) -> None:
    seen: dict[str, Path] = {}
    for source in sources:
        other = seen.setdefault(source.source_id, source.path)
        if other != source.path:
            raise ManifestError(f"{source.path.name} and {other.name} would both be source {source.source_id}")
