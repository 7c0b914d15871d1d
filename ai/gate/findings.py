"""Content that a text must not carry out: personal data, canaries, the words of the system prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from ai.gate.model import Finding
from ai.gate.normalise import fold
from retrieval.withheld import personal_data

SHINGLE_WORDS = 8  # this many words of the system prompt in a row are not a coincidence

_WORD = re.compile(r"[^\W_]+")


def find_sensitive(text: str) -> tuple[Finding, ...]:
    """Personal data in `text` by position (`retrieval.withheld`). Never raises on any `str`."""
    return tuple(Finding(span.kind, span.start, span.end) for span in personal_data(text))


def find_leaks(text: str, *, canaries: Mapping[str, str], system_prompt: str) -> tuple[Finding, ...]:
    """Secrets of ours in a draft, by position.

    `canary.<name>` for each canary (name -> token; seen through case, spacing, signs, invisible characters and reading
    backwards) and `system_prompt` for eight or more consecutive words of it. `system_prompt` is the fixed instruction
    text alone: question and sources are not secret. Never raises on any `str`.
    """
    found = [*_canary_findings(text, canaries), *_prompt_findings(text, system_prompt)]
    return tuple(sorted(found, key=lambda finding: (finding.start, finding.end, finding.kind)))


def _canary_findings(text: str, canaries: Mapping[str, str]) -> Iterator[Finding]:
    if not canaries:
        return
    view = fold(text)
    squeezed = "".join(filter(str.isalnum, view.text))
    places: list[int] = []
    for name, token in canaries.items():
        wanted = "".join(char for char in fold(token).text if char.isalnum())
        for form in {wanted, wanted[::-1]} - {""}:
            at = squeezed.find(form)
            if at >= 0 and not places:
                places = [at for at, char in enumerate(view.text) if char.isalnum()]
            while at >= 0:
                yield Finding(f"canary.{name}", *view.span(places[at], places[at + len(form) - 1] + 1))
                at = squeezed.find(form, at + 1)


def _prompt_findings(text: str, system_prompt: str) -> Iterator[Finding]:
    secret = _shingles(system_prompt)
    if not secret:
        return
    view = fold(text)
    said = tuple(_WORD.findall(view.text))
    if not any(said[at : at + SHINGLE_WORDS] in secret for at in range(len(said) - SHINGLE_WORDS + 1)):
        return
    words = list(_WORD.finditer(view.text))
    run: tuple[int, int] | None = None
    for at in range(len(words) - SHINGLE_WORDS + 1):
        if said[at : at + SHINGLE_WORDS] not in secret:
            continue
        window = words[at : at + SHINGLE_WORDS]
        start, end = view.span(window[0].start(), window[-1].end())
        if run is not None and start <= run[1]:
            run = (run[0], end)
            continue
        if run is not None:
            yield Finding("system_prompt", *run)
        run = (start, end)
    if run is not None:
        yield Finding("system_prompt", *run)


@lru_cache(maxsize=64)
def _shingles(system_prompt: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(fold(system_prompt).text)
    return frozenset(tuple(words[at : at + SHINGLE_WORDS]) for at in range(len(words) - SHINGLE_WORDS + 1))
