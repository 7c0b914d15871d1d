"""The small template language of the manifest: `{field}`, `{field|filter}`, and `[optional parts]` that vanish with
an empty field."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache

from retrieval.english.dates import long_date
from retrieval.errors import ManifestError
from retrieval.index import surface_key

_FIELD = re.compile(r"\{([^{}|]+)(?:\|([a-z_]+))?\}")
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")

MOST_DIGITS = 400
"""Characters of a figure: any number that a computer reckons with has fewer."""


def slug(text: str) -> str:
    """Lower-case ASCII letters and digits joined by hyphens, for ids."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain.replace("'", "")).strip("-")


def number(text: str) -> str:
    """Thousands separated: `85200` -> `85,200`; anything that is no number, or a very long one, stays."""
    match = re.fullmatch(r"(-?)(\d+)(\.\d+)?", text.strip(), re.ASCII)
    if match is None or len(match[2]) > MOST_DIGITS:
        return text
    return f"{match[1]}{int(match[2]):,}{match[3] or ''}"


def _key(text: str) -> str:
    return slug(surface_key(text))


def _title(text: str) -> str:
    return text.title() if text.isupper() else text


_FILTERS: Mapping[str, Callable[[str], str]] = {
    "slug": slug,
    "number": number,
    "date": long_date,
    "title": _title,
    "key": _key,
}


@lru_cache(maxsize=1024)
def compile_template(template: str) -> Callable[[Mapping[str, str]], str]:
    """A renderer: fields by name, empty when a field outside an optional part is empty or absent. Raises
    `ManifestError`."""
    pieces: list[tuple[bool, Callable[[Mapping[str, str]], str | None]]] = []
    position = 0
    for match in _OPTIONAL.finditer(template):
        pieces.append((True, _plain(template[position : match.start()])))
        pieces.append((False, _plain(match[1])))
        position = match.end()
    pieces.append((True, _plain(template[position:])))

    def render(fields: Mapping[str, str]) -> str:
        parts = [(needed, piece(fields)) for needed, piece in pieces]
        if any(needed and part is None for needed, part in parts):
            return ""
        return "".join(part or "" for _, part in parts)

    return render


def _plain(template: str) -> Callable[[Mapping[str, str]], str | None]:
    literal: list[str] = []
    fields: list[tuple[str, Callable[[str], str]]] = []
    position = 0
    for match in _FIELD.finditer(template):
        if match[2] and match[2] not in _FILTERS:
            raise ManifestError(f"unknown filter {match[2]!r} in the template {template!r}")
        literal.append(template[position : match.start()])
        fields.append((match[1], _FILTERS.get(match[2] or "", str)))
        position = match.end()
    tail = template[position:]
    if "{" in "".join((*literal, tail)) or "}" in "".join((*literal, tail)):
        raise ManifestError(f"a brace is left open in the template {template!r}")

    def render(values: Mapping[str, str]) -> str | None:
        parts: list[str] = []
        for before, (name, change) in zip(literal, fields, strict=True):
            value = change(values.get(name, ""))
            if not value:
                return None
            parts += (before, value)
        return "".join((*parts, tail))

    return render
