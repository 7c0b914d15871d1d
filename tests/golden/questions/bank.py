"""The bank: questions with the specification from which their gold is computed, read from `*.toml`, a file a group."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.golden.questions.gold import Gold
from tests.golden.questions.language import golds
from tests.golden.questions.world import World

HERE = Path(__file__).parent
KEYS = {"id", "q", "gold", "trap", "may_abstain", "context"}


class BadBank(Exception):
    """A question that is not written as the README says."""


@dataclass(frozen=True)
class Question:
    """A question, what it asks for (`gold`: expressions of which each is a right answer, or `abstain`), and the word
    that makes a trap of it. `may_abstain` says why a careful person may refuse."""

    id: str
    group: str
    text: str
    gold: tuple[str, ...]
    trap: str | None = None
    may_abstain: str | None = None
    context: Mapping[str, Any] = field(default_factory=dict)

    @property
    def abstains(self) -> bool:
        return self.gold == ("abstain",)

    def golds(self, world: World) -> tuple[Gold, ...]:
        return golds(world, self.gold)


@dataclass(frozen=True)
class Corpus:
    """A corpus with its facts and its bank."""

    name: str

    @property
    def folder(self) -> Path:
        return HERE / self.name

    @property
    def manifest(self) -> Path:
        return Path(import_module(f"tests.golden.questions.{self.name}.facts").FOLDER) / "manifest.toml"

    @property
    def world(self) -> World:
        return import_module(f"tests.golden.questions.{self.name}.facts").world()  # type: ignore[no-any-return]

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        found = [q for file in sorted(self.folder.glob("*.toml")) for q in _read(file)]
        ids = [q.id for q in found]
        if twice := {i for i in ids if ids.count(i) > 1}:
            raise BadBank(f"ids used twice: {sorted(twice)}")
        return tuple(found)


def _read(file: Path) -> Sequence[Question]:
    group = tomllib.loads(file.read_text(encoding="utf-8"))
    return [_question(each, file.stem) for each in group["questions"]]


def _question(entry: Mapping[str, Any], group: str) -> Question:
    if unknown := entry.keys() - KEYS:
        raise BadBank(f"{entry.get('id')}: unknown keys {sorted(unknown)}")
    gold = entry["gold"]
    return Question(
        entry["id"],
        group,
        entry["q"],
        tuple(gold) if isinstance(gold, list) else (gold,),
        entry.get("trap"),
        entry.get("may_abstain"),
        entry.get("context", {}),
    )
