"""Text of an EPUB: its chapters in the order of its spine."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from retrieval.errors import LoadError
from retrieval.ingest.formats.html import html_runs
from retrieval.ingest.parsing.packed import Packed, unpacked
from retrieval.ingest.parsing.runs import Run, text_of
from retrieval.ingest.parsing.xml import local, parsed_xml
from retrieval.ingest.values import About, Extracted

_LARGEST = 48 * 2**20
_PAGES = ("application/xhtml+xml", "text/html")


def read_epub(name: str, data: bytes) -> Extracted:
    """The chapters with their headings; pictures, styles and the table of contents are left out. A chapter that the
    file lacks is told. Raises `LoadError`, `ReaderMissing`."""
    packed = unpacked(name, data, "EPUB", largest=_LARGEST)
    container = parsed_xml(name, packed.read("META-INF/container.xml"))
    place = next((each.get("full-path") for each in container.iter("{*}rootfile")), None)
    if not place:
        raise LoadError(f"{name}: not a readable EPUB (it names no package)")
    package = parsed_xml(name, packed.read(place))
    missing: list[str] = []
    runs = [run for each in _chapters(package, place) for run in _chapter(name, packed, each, missing)]
    return replace(text_of(runs), about=_about(package), slips=tuple(missing))


def _chapters(package: Any, place: str) -> Iterator[str]:
    """The names of the chapters' entries, each once: what the spine lists of the manifest, without its navigation."""
    items = {each.get("id"): each for each in package.iter("{*}item")}
    seen: set[str] = set()
    for each in package.iter("{*}itemref"):
        item = items.get(each.get("idref"))
        if item is None or item.get("media-type") not in _PAGES or "nav" in (item.get("properties") or "").split():
            continue
        entry = posixpath.normpath(posixpath.join(posixpath.dirname(place), unquote(item.get("href") or "")))
        if entry not in seen:
            seen.add(entry)
            yield entry


def _chapter(name: str, packed: Packed, entry: str, missing: list[str]) -> list[Run]:
    if entry not in packed.names:
        missing.append(f"chapter {posixpath.basename(entry)[:80]!r} is not in the file")
        return []
    return html_runs(name, packed.read(entry).decode("utf-8", "replace"))


def _about(package: Any) -> About:
    said: dict[str, str] = {}
    for each in package.iter("{*}title", "{*}creator", "{*}date", "{*}rights"):
        said.setdefault(local(each), (each.text or "").strip())
    return About(
        said.get("title") or None, said.get("creator") or None, said.get("date") or None, said.get("rights") or None
    )
