"""What every server does to a question when it fails: the table of `docs/operations.md`, which the tests read too."""

from __future__ import annotations

from dataclasses import dataclass

from api.problems import MEANINGS

FAULTS = {
    "absent": "down at start",
    "killed": "killed, then started again",
    "paused": "stands still",
    "slow": "slower than the deadline",
    "refused": "refuses the credentials",
    "garbled": "wrong replies",
}


@dataclass(frozen=True)
class Toll:
    """What questions get while a server fails. `limits` are codes of a limitation, and the answer stands; `errors` are
    codes of a refusal."""

    limits: frozenset[str] = frozenset()
    errors: frozenset[str] = frozenset()

    def cell(self) -> str:
        """The cell of the table."""
        limited = [f"`{code}`" for code in sorted(self.limits)]
        refused = [f"{MEANINGS[code].status} `{code}`" for code in sorted(self.errors)]
        return ", ".join(limited + refused)


GONE, LATE = "CHANNEL_UNAVAILABLE", "CHANNEL_TIMEOUT"
OPEN = "CHANNEL_CIRCUIT_OPEN"
"""Beside any of the two, once five searches in a row have met them."""


def _channel() -> dict[str, Toll]:
    late = Toll(limits=frozenset({LATE, GONE}))
    gone = Toll(limits=frozenset({GONE}))
    return {
        "absent": gone,
        "killed": late,
        "paused": late,
        "slow": late,
        "refused": gone,
        "garbled": gone,
    }


def _refusal(code: str) -> dict[str, Toll]:
    return dict.fromkeys(FAULTS, Toll(errors=frozenset({code})))


MATRIX: dict[str, dict[str, Toll]] = {
    "Neo4j": _channel(),
    "PostgreSQL": _refusal("INDEX_NOT_READY"),
    "OpenSearch": _channel(),
    "OPA": _refusal("POLICY_UNAVAILABLE"),
    "Ollama": _refusal("MODEL_UNAVAILABLE")
    | dict.fromkeys(("paused", "slow"), Toll(errors=frozenset({"TIMEOUT", "MODEL_UNAVAILABLE"}))),
}


def table() -> str:
    """The table as Markdown."""
    lines = [f"| | {' | '.join(MATRIX)} |", "|---" * (len(MATRIX) + 1) + "|"]
    lines += [f"| {told} | {' | '.join(MATRIX[s][fault].cell() for s in MATRIX)} |" for fault, told in FAULTS.items()]
    return "\n".join(lines)
