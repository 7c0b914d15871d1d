"""What the lint finds, and what a lint rule is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policy.authoring.lint.sources import Sources


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing that is wrong: `file` below the bundle's root, `row` and `column` from 1, the lint rule's id."""

    file: str
    row: int
    column: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.row}:{self.column} {self.rule}: {self.message}"


@dataclass(frozen=True, slots=True)
class LintRule:
    """`advice` says why it matters and what to write instead."""

    id: str
    advice: str
    find: Callable[[Sources], Iterator[Finding]]
