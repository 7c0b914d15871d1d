"""What a text must not carry out: personal data, canaries, the words of the system prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from ai.prompt_gate.model import Finding
from ai.prompt_gate.normalise import fold

SHINGLE_WORDS = 8  # so many words of the system prompt in a row are no coincidence

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])")
_DIGITS = re.compile(r"[0-9][0-9().\-\s]{6,}[0-9]")
_SSN = re.compile(r"(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\d-])")
_PHONE = re.compile(
    r"(?<![\d.$€£-])(?:\+\d{1,3}[\s.-]?(?:\(\d{1,4}\)[\s.-]?)?\d{2,4}(?:[\s.-]?\d{2,4}){1,3}"
    r"|\(\d{3}\)\s?[2-9]\d{2}[\s.-]\d{4}|[2-9]\d{2}([.-])[2-9]\d{2}\1\d{4})(?![\d-]|\.\d)"
)
_CARD = re.compile(r"(?<![\d.-])[3-6]\d{3}(?:([ -]?)\d{4}\1\d{4}\1\d{1,7}|[ -]\d{6}[ -]\d{5})(?![\d-]|\.\d)")
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)")
_IBAN_START = re.compile(r"[0-9]{2} ?[A-Z0-9]{4}")
_WORD = re.compile(r"[^\W_]+")


def find_sensitive(text: str) -> tuple[Finding, ...]:
    """Personal data in `text` by position: `pii.email, pii.phone, pii.ssn, pii.card` (Luhn), `pii.iban` (mod 97).

    Patterns, no guesses: names and addresses are the business of labels and handling tags. Never raises on any `str`.
    """
    found: list[Finding] = []
    if "@" in text:
        found.extend(Finding("pii.email", *match.span()) for match in _EMAIL.finditer(text))
    if _DIGITS.search(text):
        found.extend(_numbers(text))
    if _IBAN_START.search(text):
        found.extend(Finding("pii.iban", *match.span()) for match in _IBAN.finditer(text) if _is_iban(match.group()))
    return _without_overlap(found)


def find_leaks(text: str, *, canaries: Mapping[str, str], system_prompt: str) -> tuple[Finding, ...]:
    """Secrets of ours in a draft, by position.

    `canary.<name>` for each canary (name -> token; seen through case, spacing, signs, invisible characters and reading
    backwards) and `system_prompt` for eight or more consecutive words of it. `system_prompt` is the fixed instruction
    text alone: question and sources are not secret. Never raises on any `str`.
    """
    found = [*_canary_findings(text, canaries), *_prompt_findings(text, system_prompt)]
    return tuple(sorted(found, key=lambda finding: (finding.start, finding.end, finding.kind)))


def _numbers(text: str) -> Iterator[Finding]:
    for match in _SSN.finditer(text):
        yield Finding("pii.ssn", *match.span())
    for match in _CARD.finditer(text):
        if _passes_luhn(match.group()):
            yield Finding("pii.card", *match.span())
    for match in _PHONE.finditer(text):
        if 7 <= sum(char.isdigit() for char in match.group()) <= 15:
            yield Finding("pii.phone", *match.span())


def _passes_luhn(number: str) -> bool:
    """ISO/IEC 7812-1 annex B over the digits; 13 to 19 of them."""
    digits = [int(char) for char in number if char.isdigit()]
    if not 13 <= len(digits) <= 19:
        return False
    doubled = [digit if at % 2 == 0 else digit * 2 - 9 * (digit > 4) for at, digit in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0


def _is_iban(text: str) -> bool:
    """ISO 13616 / ISO 7064 MOD 97-10."""
    compact = text.replace(" ", "")
    return 15 <= len(compact) <= 34 and int("".join(str(int(char, 36)) for char in compact[4:] + compact[:4])) % 97 == 1


def _without_overlap(found: list[Finding]) -> tuple[Finding, ...]:
    """By position; of two that overlap the one that starts first, then the longer one."""
    kept: list[Finding] = []
    for finding in sorted(found, key=lambda finding: (finding.start, -finding.end, finding.kind)):
        if not kept or finding.start >= kept[-1].end:
            kept.append(finding)
    return tuple(kept)


def _canary_findings(text: str, canaries: Mapping[str, str]) -> Iterator[Finding]:
    if not canaries:
        return
    view = fold(text)
    places = [at for at, char in enumerate(view.text) if char.isalnum()]
    squeezed = "".join(view.text[at] for at in places)
    for name, token in canaries.items():
        wanted = "".join(char for char in fold(token).text if char.isalnum())
        for form in {wanted, wanted[::-1]} - {""}:
            at = squeezed.find(form)
            while at >= 0:
                yield Finding(f"canary.{name}", *view.span(places[at], places[at + len(form) - 1] + 1))
                at = squeezed.find(form, at + 1)


def _prompt_findings(text: str, system_prompt: str) -> Iterator[Finding]:
    secret = _shingles(system_prompt)
    if not secret:
        return
    view = fold(text)
    words = list(_WORD.finditer(view.text))
    run: tuple[int, int] | None = None
    for at in range(len(words) - SHINGLE_WORDS + 1):
        window = words[at : at + SHINGLE_WORDS]
        if tuple(match.group() for match in window) not in secret:
            continue
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
