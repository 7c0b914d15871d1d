"""Writers of a home's log that are killed at any step, and what must be there afterwards."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.home.configuration import load
from api.wiring.ledger.log import open_log
from ledger.model import VerifyReport

WRITER = """
import asyncio, json, sys
from pathlib import Path
from api.home.configuration import load
from api.wiring.ledger.log import kept_signed, open_log_to_write
from ledger.model import Kind

async def main() -> None:
    configuration = load({"EXHIBIT_LEDGER__CHECKPOINT_MS": "20", "EXHIBIT_LEDGER__CHECKPOINT_ENTRIES": "8"},
                         home=Path(sys.argv[1]))
    ledger = await open_log_to_write(configuration)

    async def ask(number):
        request = f"k{sys.argv[2]}-{number}"
        intent = await ledger.record(Kind.INTENT, tenant="default", request_id=request, parts={"question": b"?" * 900})
        print(intent.entry_id, flush=True)
        answer = b'{"request_id":"%s"}' % request.encode()
        outcome = await ledger.record(Kind.OUTCOME, tenant="default", request_id=request, parts={"answer": answer},
                                      sources=[b"one"], refs=[intent.as_ref("intent")])
        promise = await ledger.promise(outcome, answer=answer)
        print(json.dumps({**json.loads(answer), "promise": promise.as_json()}), flush=True)

    async with kept_signed(configuration, ledger):
        for number in range(0, 10**6, 4):
            await asyncio.gather(*(ask(number + i) for i in range(4)))

asyncio.run(main())
"""


@dataclass(frozen=True)
class Aftermath:
    """What was acknowledged, and what the log has."""

    acknowledged: frozenset[str]
    stored: tuple[str, ...]
    numbers: tuple[int, ...]
    dangling: tuple[str, ...]
    report: VerifyReport
    fork: bool


def kill_writers(home: Path, times: int, seed: int = 1) -> frozenset[str]:
    """Start a writer, kill it after some entries, so many times; the ids that were acknowledged."""
    ids, bodies = kill_answerers(home, times, seed)
    return ids | {body["promise"]["entry_id"] for body in bodies}


def kill_answerers(home: Path, times: int, seed: int = 1) -> tuple[frozenset[str], list[dict[str, Any]]]:
    """The same; the ids of intents, and the bodies that were released with their promises."""
    home.mkdir(exist_ok=True)
    chance, acknowledged = random.Random(seed), set[str]()
    for turn in range(times):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(home), f"{seed}-{turn}"],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[1],
        )
        assert process.stdout is not None
        for _ in range(chance.randrange(1, 40)):
            acknowledged.add(process.stdout.readline().strip())
        process.kill()
        acknowledged |= {line.strip() for line in process.stdout if line.endswith("\n")}
        process.stdout.close()
        process.wait()
    bodies = [json.loads(line) for line in acknowledged if line.startswith("{")]
    return frozenset(line for line in acknowledged if line and not line.startswith("{")), bodies


async def aftermath(home: Path, acknowledged: frozenset[str]) -> Aftermath:
    """What is there when the log is opened again."""
    ledger = await open_log(load({}, home=home))
    try:
        entries = await ledger.entries(limit=1000)
        while page := await ledger.entries(after=entries[-1].index, limit=1000):
            entries += page
        return Aftermath(
            acknowledged,
            tuple(entry.leaf.entry_id for entry in entries),
            tuple(entry.leaf.rseq for entry in entries),
            tuple(entry.leaf.entry_id for entry in await ledger.dangling(limit=1000)),
            await ledger.verify(),
            ledger.fork is not None,
        )
    finally:
        await ledger.aclose()


def check(after: Aftermath) -> None:
    """Contiguous, whole, nothing acknowledged lost, and what was cut off is reported."""
    assert after.acknowledged
    assert after.acknowledged <= set(after.stored)
    assert after.numbers == tuple(range(1, len(after.numbers) + 1))
    assert after.report.problems == ()
    assert not after.fork
    assert after.dangling == tuple(ref.entry_id for ref in after.report.dangling)
