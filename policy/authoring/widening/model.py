"""Values of a comparison of bundles."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from policy.bundles.bundle import Bundle
from policy.engine import PolicyEngine


@dataclass(frozen=True, slots=True)
class Widening:
    """Something that is newly permitted. `name` is what a publisher accepts it by; `detail` says it in words."""

    name: str
    detail: str


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two bundles: its folder, and an engine that serves its module."""

    bundle: Bundle
    folder: Path
    engine: PolicyEngine
