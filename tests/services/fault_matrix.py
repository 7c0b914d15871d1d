"""What every server does to a question when it fails: the tables of `docs/operations.md`. The tests compare what they see
with the first; `python -m tests.services.fault_matrix RESULTS` puts what they measured into the second."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from api.problems import MEANINGS

GUIDE = Path(__file__).parents[2] / "docs" / "operations.md"
FAULTS = {
    "absent": "down at start",
    "killed": "killed",
    "restarted": "stopped and started again",
    "paused": "hangs",
    "slow": "slower than the deadline",
    "refused": "refuses the credentials",
    "garbled": "wrong replies",
}
BOUND_MS = 250
"""What a question may take beyond the deadline, at the 99th percentile."""


@dataclass(frozen=True)
class Toll:
    """What questions get while a server fails. `limits` are codes of a limitation, and the answer stands, or is none
    where `errors`, the codes of a refusal, are named too; `starts` is whether Exhibit starts."""

    limits: frozenset[str] = frozenset()
    errors: frozenset[str] = frozenset()
    starts: bool = True

    def cell(self) -> str:
        """The cell of the table."""
        limited = [f"`{code}`" for code in sorted(self.limits)]
        refused = [f"{MEANINGS[code].status} `{code}`" for code in sorted(self.errors)]
        told = ", ".join(limited + refused)
        return told if self.starts else f"does not start: {told.partition(' ')[2]}"


@dataclass(frozen=True)
class Measured:
    """One cell as it was seen: how many questions, from their arrival on, and how long after the fault's end the next
    whole answer came."""

    questions: int
    p50_ms: float
    p99_ms: float
    longest_ms: float
    again_ms: float
    deadline_ms: int

    @property
    def within(self) -> bool:
        """Whether the bound held."""
        return self.p99_ms <= self.deadline_ms + BOUND_MS


GONE, LATE = "CHANNEL_UNAVAILABLE", "CHANNEL_TIMEOUT"
OPEN = "CHANNEL_CIRCUIT_OPEN"
"""Beside any of the two, once five searches in a row have met them."""


def _channel() -> dict[str, Toll]:
    late = Toll(limits=frozenset({LATE, GONE}))
    gone = Toll(limits=frozenset({GONE}))
    immediate = dict.fromkeys(("absent", "refused", "garbled"), gone)
    return dict.fromkeys(FAULTS, late) | immediate


def _refusal(code: str) -> dict[str, Toll]:
    return dict.fromkeys(FAULTS, Toll(errors=frozenset({code})))


MATRIX: dict[str, dict[str, Toll]] = {
    "Neo4j": _channel(),
    # One that was searching when the server stopped may find it again when it reads the records.
    "PostgreSQL": _refusal("INDEX_NOT_READY")
    | {"restarted": Toll(limits=frozenset({GONE}), errors=frozenset({"INDEX_NOT_READY"}))},
    "OpenSearch": _channel(),
    "OPA": _refusal("POLICY_UNAVAILABLE"),
    "Ollama": _refusal("MODEL_UNAVAILABLE")
    | dict.fromkeys(("restarted", "paused", "slow"), Toll(errors=frozenset({"TIMEOUT", "MODEL_UNAVAILABLE"}))),
    "the log's PostgreSQL": _refusal("LEDGER_UNAVAILABLE")
    | {"absent": Toll(errors=frozenset({"LEDGER_UNAVAILABLE"}), starts=False)},
}


def _rows(cell: dict[str, dict[str, str]]) -> str:
    lines = [f"| | {' | '.join(MATRIX)} |", "|---" * (len(MATRIX) + 1) + "|"]
    lines += [f"| {told} | {' | '.join(cell[server][fault] for server in MATRIX)} |" for fault, told in FAULTS.items()]
    return "\n".join(lines)


def table() -> str:
    """What questions get, as Markdown."""
    return _rows({server: {fault: toll.cell() for fault, toll in tolls.items()} for server, tolls in MATRIX.items()})


def figures(results: dict[str, dict[str, Measured]]) -> str:
    """What the questions took, as Markdown; a p99 beyond the bound is in bold. KeyError where a cell is missing."""

    def cell(server: str, fault: str) -> str:
        if not MATRIX[server][fault].starts:
            return "-"
        seen = results[server][fault]
        p99 = f"{seen.p99_ms / 1000:.2f}"
        return f"{p99 if seen.within else f'**{p99}**'} / {seen.again_ms / 1000:.1f}"

    return _rows({server: {fault: cell(server, fault) for fault in FAULTS} for server in MATRIX})


def read_results(path: Path) -> dict[str, dict[str, Measured]]:
    """What the tests wrote. Raises ValueError for what is no such file."""
    found = json.loads(path.read_text("utf-8"))
    return {server: {fault: Measured(**seen) for fault, seen in cells.items()} for server, cells in found.items()}


def write_result(path: Path, server: str, fault: str, seen: Measured) -> None:
    """Adds one cell to the file, or replaces it."""
    found = json.loads(path.read_text("utf-8")) if path.exists() else {}
    found.setdefault(server, {})[fault] = asdict(seen)
    path.write_text(json.dumps(found, indent=1), "utf-8")


def between(guide: str, name: str) -> re.Match[str]:
    """What stands between the marks of that name. Raises ValueError where there are none."""
    found = re.search(rf"(?s)(<!-- {name}: [^\n]*-->\n).*?(<!-- end -->)", guide)
    if found is None:
        raise ValueError(f"the guide has no place for {name}")
    return found


def main(results: str) -> None:
    """Puts both tables into the guide."""
    guide = GUIDE.read_text("utf-8")
    for name, made in (("outcomes", table()), ("figures", figures(read_results(Path(results))))):
        place = between(guide, name)
        guide = f"{guide[: place.end(1)]}{made}\n{guide[place.start(2) :]}"
    GUIDE.write_text(guide, "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
