"""The gate's rules: data read once from `rules.toml`, with a version and a digest that every result names."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import rfc8785

from ai.gate.errors import PatternInvalid, RulesetInvalid
from ai.gate.linear import Pattern, Spelled, Work
from ai.gate.normalise import rot13_word

_GAP = r"(?:[\W_]{1,6})"
_LOOSE_GAP = r"(?:[\W_]{0,6})"
_MACRO = re.compile(r"\{([a-z]+)\}")
_LEAD_CHARS = 160  # a match begins at most so far before the word that woke its rule ...
_REACH_CHARS = 360  # ... and ends at most so far behind it
MAX_WORK = 1_000_000
"""Characters searched for one text where a ruleset sets no limit of its own: many times what honest texts and the worst
known ones of 4,000 characters take."""
_ENCODABLE_MIN_CHARS = 6  # shorter words turn into other words under ROT13 or backwards


class Place(StrEnum):
    """Which texts a rule is meant for."""

    QUESTION = "question"
    PASSAGE = "passage"


class Reading(StrEnum):
    """How the words that woke a rule were read."""

    PLAIN = "plain"
    ROT13 = "rot13"
    BACKWARDS = "backwards"


class Unless(StrEnum):
    """When a match does not count: never; inside quotation marks; there, behind a word that speaks of words."""

    NEVER = "never"
    QUOTED = "quoted"
    MENTIONED = "mentioned"


class Source(StrEnum):
    """The text that a pattern searches: folded text, the text as given, or (no pattern) the content of an encoding."""

    TEXT = "text"
    RAW = "raw"
    DECODED = "decoded"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: one of `words` (and of `company`, if any) must occur before the pattern is tried.

    `loose` is the pattern for text without word ends; `mask` replaces the words instead of cutting the sentence.
    """

    id: str
    name: str
    score_milli: int
    pattern: str
    loose: str
    words: frozenset[str]
    company: frozenset[str]
    substrings: tuple[str, ...]
    places: frozenset[Place]
    source: Source
    mask: bool
    unless: Unless
    lead: int
    reach: int

    def spans(self, text: Spelled, *, work: Work, loose: bool = False) -> Iterator[tuple[int, int]]:
        """The pattern's matches in all of the text; compiled at first use, because most rules never wake."""
        return compiled(self.loose if loose else self.pattern).spans(text, work=work)

    def spans_near(self, places: Iterable[int], text: Spelled, *, work: Work) -> Iterator[tuple[int, int]]:
        """The pattern's matches around `places`, where its words stand, left to right."""
        pattern = compiled(self.pattern)
        first = last = -1
        for at in sorted(places):
            if at - self.lead > last:
                if last >= 0:
                    yield from pattern.spans(text, max(first, 0), last, work=work)
                first = at - self.lead
            last = at + self.reach
        if last >= 0:
            yield from pattern.spans(text, max(first, 0), last, work=work)


@dataclass(frozen=True, slots=True)
class Wake:
    """That a word of a text wakes `rule`, and how it was read: `word` is what it means under `reading`."""

    reading: Reading
    rule: Rule
    word: str


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When the gate acts (thousandths), what it still calls a question (code points), and how much work it puts into
    one text (characters searched, all patterns and readings together)."""

    act_milli: int
    reject_milli: int
    reject_classes: int
    keep_max_chars: int
    max_work: int = MAX_WORK


@dataclass(frozen=True, slots=True)
class Ruleset:
    """All rules, ready to search with. `document` is the canonical JSON (RFC 8785) that `digest` is taken over."""

    version: str
    digest: str
    document: bytes
    rules: tuple[Rule, ...]
    thresholds: Thresholds
    messages: Mapping[str, str]
    wakes: Mapping[str, tuple[Wake, ...]] = field(repr=False)
    wake_words: frozenset[str] = field(repr=False)

    def __hash__(self) -> int:
        """Rulesets are told apart by their digest, so that results can be kept per ruleset."""
        return hash(self.digest)

    @property
    def label(self) -> str:
        """Version and digest in one string, as results carry it."""
        return f"{self.version} {self.digest}"

    def of_source(self, source: Source) -> tuple[Rule, ...]:
        """The rules that read this source, in order."""
        return tuple(rule for rule in self.rules if rule.source is source)


def places_of(text: str, word: str) -> Iterator[int]:
    """Where `word` begins a word."""
    at = text.find(word)
    while at >= 0:
        if at == 0 or not text[at - 1].isalnum():
            yield at
        at = text.find(word, at + len(word))


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Pattern:
    """The compiled pattern; kept for the life of the process."""
    return Pattern(pattern)


@lru_cache(maxsize=1)
def shipped_rules() -> Ruleset:
    """The rules that the package ships, read once."""
    return parse_rules((Path(__file__).parent / "rules.toml").read_text(encoding="utf-8"), compile_all=False)


def parse_rules(text: str, *, compile_all: bool = True) -> Ruleset:
    """A ruleset from the text of a rules file. Raises RulesetInvalid; never returns half of one.

    `compile_all=False` leaves the patterns to their first use (0.2 s for all); only for rules that tests have compiled.
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise RulesetInvalid(f"not a ruleset: {exc}") from exc
    return ruleset_of(raw, compile_all=compile_all)


def ruleset_of(raw: Mapping[str, Any], *, compile_all: bool = True) -> Ruleset:
    """A ruleset from its document, which an archive may have kept. Raises RulesetInvalid."""
    try:
        rules = tuple(_rule(entry, raw["macros"]) for entry in raw["rules"])
        thresholds = _thresholds(raw["thresholds"])
        messages = dict(raw["messages"])
        version = str(raw["version"])
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        raise RulesetInvalid(f"not a ruleset: {exc}") from exc
    _check(rules, messages)
    if compile_all:
        _compile(rules)
    document = rfc8785.dumps(raw)
    wakes = _wakes(rules)
    return Ruleset(
        version=version,
        digest="sha256:" + hashlib.sha256(document).hexdigest(),
        document=document,
        rules=rules,
        thresholds=thresholds,
        messages=MappingProxyType(messages),
        wakes=MappingProxyType(wakes),
        wake_words=frozenset(wakes),
    )


def _rule(entry: dict[str, Any], macros: Mapping[str, str]) -> Rule:
    known = {
        "id",
        "class",
        "score_milli",
        "words",
        "with",
        "substrings",
        "pattern",
        "in",
        "view",
        "action",
        "unless",
        "lead",
        "reach",
    }
    if unknown := set(entry) - known:
        raise ValueError(f"rule {entry.get('id')}: unknown key {sorted(unknown)[0]}")
    source = Source(entry.get("view", "text"))
    pattern = "" if source is Source.DECODED else _expand(entry["pattern"], macros)
    return Rule(
        id=entry["id"],
        name=entry["class"],
        score_milli=int(entry["score_milli"]),
        pattern=pattern if source is Source.RAW else pattern.replace(" ", _GAP),
        loose=pattern.replace(r"\b", "").replace(" ", _LOOSE_GAP),
        words=frozenset(entry.get("words", ())),
        company=frozenset(entry.get("with", ())),
        substrings=tuple(entry.get("substrings", ())),
        places=frozenset(Place(name) for name in entry.get("in", list(Place))),
        source=source,
        mask=entry.get("action", "cut") == "mask",
        unless=Unless(entry.get("unless", "never")),
        lead=int(entry.get("lead", _LEAD_CHARS)),
        reach=int(entry.get("reach", _REACH_CHARS)),
    )


def _thresholds(entry: Mapping[str, Any]) -> Thresholds:
    for name, value in entry.items():
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"thresholds: {name} is not a positive number")
    return Thresholds(**entry)


def _expand(pattern: str, macros: Mapping[str, str]) -> str:
    while match := _MACRO.search(pattern):
        pattern = pattern.replace(match.group(), macros[match.group(1)])
    return pattern


def _check(rules: tuple[Rule, ...], messages: Mapping[str, str]) -> None:
    if len({rule.id for rule in rules}) != len(rules):
        raise RulesetInvalid("two rules have one id")
    for rule in rules:
        if not 0 < rule.score_milli < 1000:
            raise RulesetInvalid(f"rule {rule.id}: score_milli is not between 1 and 999")
        if rule.name not in messages:
            raise RulesetInvalid(f"rule {rule.id}: class {rule.name} has no message")
        if rule.source is Source.TEXT and not (rule.words or rule.substrings):
            raise RulesetInvalid(f"rule {rule.id}: neither words nor substrings")


def _compile(rules: tuple[Rule, ...]) -> None:
    for rule in rules:
        try:
            compiled(rule.pattern)
            compiled(rule.loose)
            if rule.source is Source.TEXT:
                compiled(rule.pattern).widen()
                compiled(rule.loose).widen()
        except PatternInvalid as exc:
            raise RulesetInvalid(f"rule {rule.id}: not a pattern: {exc}") from exc


def _wakes(rules: tuple[Rule, ...]) -> dict[str, tuple[Wake, ...]]:
    """Which rules each word wakes, and under which reading."""
    wakes: dict[str, list[Wake]] = {}
    for rule in rules:
        for word in rule.words:
            wakes.setdefault(word, []).append(Wake(Reading.PLAIN, rule, word))
            if len(word) >= _ENCODABLE_MIN_CHARS and not rule.mask:
                wakes.setdefault(rot13_word(word), []).append(Wake(Reading.ROT13, rule, word))
                wakes.setdefault(word[::-1], []).append(Wake(Reading.BACKWARDS, rule, word))
    return {word: tuple(found) for word, found in wakes.items()}
