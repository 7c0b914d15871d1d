"""The work that a channel over a server has that server carry out, as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Statement:
    """One call of the store's own driver: the text that it takes with its parameters, or the body of a request."""

    text: str
    parameters: Mapping[str, Any] | Sequence[Any]
