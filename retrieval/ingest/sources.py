"""Which sources a run takes in: those of a manifest, or the files that the paths name."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from retrieval.errors import ManifestError
from retrieval.files.marks import WRITER_LOCK
from retrieval.ingest.manifest import Manifest, read_manifest
from retrieval.ingest.places import RealPaths
from retrieval.ingest.values import SourceSpec
from retrieval.media_types import SHAPEFILE_INDEXES, SHAPEFILE_PARTS

MANIFEST = "manifest.toml"


def sources_of(paths: Sequence[Path], manifest: Path | None) -> tuple[tuple[SourceSpec, ...], dict[str, str]]:
    """The sources in order, and the titles of collections. With a manifest (given, named like a file, or a folder's
    `manifest.toml`) only what it lists is taken; without, everything in the folder, whatever its kind: what is not read
    becomes a row that says so. A file that is named in two ways is one source, by the manifest's name if it has one.
    A path that is named and leads to nothing is no source. Raises `ManifestError`."""
    _require_there(paths)
    sources: list[SourceSpec] = []
    titles: dict[str, str] = {}
    if manifest is not None:
        read = read_manifest(manifest)
        titles |= read.collections
        sources += _named(read, paths)
        paths = ()
    for path in paths:
        listing = path if path.suffix == ".toml" else path / MANIFEST
        if listing.is_file():
            read = read_manifest(listing)
            if listing != path:
                _require_inside(read)
            titles |= read.collections
            sources += read.sources
        else:
            sources += _derived(path)
    sources = _once_each(sources)
    _check_unique(sources)
    return tuple(sources), titles


def _require_there(paths: Sequence[Path]) -> None:
    """Raises `ManifestError` for names of nothing that can be read: a slip of whoever named it, not a file that failed.
    Those of a folder and of a manifest are looked at when their turn comes."""
    missing: list[str] = []
    for path in paths:
        try:
            mode = path.stat().st_mode
        except OSError as exc:
            missing.append(f"{path.name} ({exc.strerror or 'I/O error'})")
        else:
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                missing.append(f"{path.name} (neither a file nor a folder)")
    if missing:
        raise ManifestError(f"cannot be read: {', '.join(missing)}")


def _require_inside(manifest: Manifest) -> None:
    """Raises `ManifestError` where a manifest that was found in a folder, not named, leads out of it by a path or a
    link: whoever gave the folder may not choose what else is read."""
    folder = manifest.path.parent.resolve()
    for source in manifest.sources:
        if not source.path.resolve().is_relative_to(folder):
            raise ManifestError(
                f"source {source.source_id}: {source.path.name} lies outside the folder of the manifest;"
                " name the manifest itself to allow that"
            )


def _named(manifest: Manifest, paths: Sequence[Path]) -> Iterator[SourceSpec]:
    """The sources of a manifest, or those of them that the paths name. Raises `ManifestError` for a path of none."""
    places = [(source, source.path.resolve()) for source in manifest.sources]
    wanted = {path: path.resolve() for path in paths}
    for path, place in wanted.items():
        if not any(each.is_relative_to(place) for _, each in places):
            raise ManifestError(f"{path.name}: {manifest.path.name} lists no such file")
    for source, each in places:
        if not wanted or any(each.is_relative_to(place) for place in wanted.values()):
            yield source


def _derived(path: Path) -> Iterator[SourceSpec]:
    """A file, or everything in a folder but what is hidden and the product's own folders; links and folders that cannot
    be read are entries too."""
    if not path.is_dir():
        yield _source(path, path.name)
        return
    closed: list[Path] = []
    found: list[Path] = []
    for folder, inside, files in os.walk(path, onerror=lambda exc: closed.append(Path(exc.filename))):
        if WRITER_LOCK in files:
            inside.clear()
            continue
        inside[:] = sorted(name for name in inside if not name.startswith("."))
        links = [name for name in inside if Path(folder, name).is_symlink()]
        found += [Path(folder, name) for name in (*files, *links) if not name.startswith(".")]
    found = _without_parts(found)
    root, above = path.resolve().name, len(path.parts)
    for each in sorted((*found, *closed)):
        yield _source(each, ".".join((root, *each.parts[above:])))


def _without_parts(found: Sequence[Path]) -> list[Path]:
    """The files but those that belong to a Shapefile beside them: they are read with it."""
    shapes = {each.with_suffix("") for each in found if each.suffix.lower() == ".shp"}
    parts = (*SHAPEFILE_PARTS[1:], *SHAPEFILE_INDEXES)

    def is_part(each: Path) -> bool:
        metadata = each.name.lower().endswith(".shp.xml") and each.with_suffix("").with_suffix("") in shapes
        return metadata or (each.suffix.lower() in parts and each.with_suffix("") in shapes)

    return [each for each in found if not is_part(each)] if shapes else list(found)


def _once_each(sources: Sequence[SourceSpec]) -> list[SourceSpec]:
    """Each file once: the first to name it, or whatever the manifest calls it. Links are files of their own."""
    chosen: dict[str, SourceSpec] = {}
    paths = RealPaths()
    for source in sources:
        place = paths.of(source.path, follow=False)
        if place not in chosen or (source.declared and not chosen[place].declared):
            chosen[place] = source
        elif source.declared and source.source_id != chosen[place].source_id:
            raise ManifestError(
                f"{source.path.name} would be both source {chosen[place].source_id} and {source.source_id}"
            )
    return list(chosen.values())


def _source(path: Path, name: str) -> SourceSpec:
    source_id = re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-._")[:80] or "file"
    return SourceSpec(path=path, source_id=source_id, title=re.sub(r"[_-]+", " ", path.stem).strip() or path.name)


def _check_unique(sources: Sequence[SourceSpec]) -> None:
    seen: dict[str, Path] = {}
    for source in sources:
        other = seen.setdefault(source.source_id, source.path)
        if other != source.path:
            raise ManifestError(f"{source.path.name} and {other.name} would both be source {source.source_id}")
