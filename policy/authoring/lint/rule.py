"""The values that make up a lint rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from policy.authoring.lint.findings import Finding
from policy.authoring.lint.sources import Sources


@dataclass(frozen=True, slots=True)
class LintRule:
    """`advice` says why it matters and what to write instead."""

    id: str
    advice: str
    find: Callable[[Sources], Iterator[Finding]]
