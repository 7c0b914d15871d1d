"""Try every plant of the catalogue by a whole publication: `python -m tests.policy_plants REPORT [--kind K ...]`.

The report has a line of JSON for each; what it holds already is not tried again. Exit code 1: one passed unnoticed.
Without the `opa` program (EXHIBIT_OPA_BIN or PATH) the plants of rules are left out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from policy.authoring.opa import Opa, OpaMissing, find_opa
from policy.errors import PolicyUnavailable
from tests.policy_plants.catalogue import CATALOGUE, KINDS, Plant
from tests.policy_plants.publishing import attempt, kept_engines


async def run(plants: list[Plant], report: Path, opa: Opa | None) -> None:
    """Try each, and write its line as soon as it is known."""
    async with kept_engines() as beside:
        for plant in plants:
            used = time.process_time()
            with tempfile.TemporaryDirectory(prefix="exhibit-plant-") as place:
                try:
                    found = await attempt(plant, Path(place), beside, opa)
                except (
                    PolicyUnavailable
                ) as exc:  # a machine that is too busy decides nothing; the next run tries it again
                    print(f"not tried: {plant.kind} {plant.name}: {exc}", file=sys.stderr)
                    continue
            told: dict[str, Any] = {"kind": plant.kind, "name": plant.name, "unnoticed": found.unnoticed}
            told |= {"gate": found.gate, "named": list(found.named)[:30], "missing": list(found.missing)}
            told |= {"processor_s": round(time.process_time() - used, 2)}
            with report.open("a", encoding="utf-8") as file:
                file.write(json.dumps(told) + "\n")


def known(report: Path) -> list[dict[str, Any]]:
    """The lines of a report; none where there is none."""
    return [json.loads(line) for line in report.read_text("utf-8").splitlines()] if report.is_file() else []


def main() -> int:
    """As the module's text says."""
    parser = argparse.ArgumentParser(prog="tests.policy_plants")
    parser.add_argument("report", type=Path)
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--limit", type=int, default=len(CATALOGUE))
    options = parser.parse_args()
    try:
        opa: Opa | None = find_opa()
    except OpaMissing:
        opa = None
    done = {(each["kind"], each["name"]) for each in known(options.report)}
    plants = [
        plant
        for plant in CATALOGUE
        if (plant.kind, plant.name) not in done
        and plant.kind in (options.kind or KINDS)
        and (opa is not None or not plant.new_rules)
    ]
    asyncio.run(run(plants[: options.limit], options.report, opa))
    told = known(options.report)
    wrong = [each for each in told if each["unnoticed"]]
    print(json.dumps({"tried": len(told), "of": len(CATALOGUE), "kinds": Counter(each["kind"] for each in told)}))
    for each in wrong:
        print(f"unnoticed: {each['kind']} {each['name']}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
