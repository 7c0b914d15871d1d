"""The findings of the lint."""

from __future__ import annotations

from dataclasses import dataclass


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
