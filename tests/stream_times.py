"""When the sentences of a streamed answer arrive, beside the time of the whole query: `python -m tests.stream_times`.

The default first, then a slow model (a double of Ollama that waits before each part). Both are asked the same
questions in turn, over a connection that is kept. `verified` is the step `decision`, the last run of the answer point;
what comes after it is the entry in the ledger. A benchmark, not a test: figures go to docs/benchmarks.md.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import httpx

from tests.browser.page_server import PageServer, page_server
from tests.ollama_double import OllamaDouble, serving

COUNTIES = ("Shawnee", "Douglas", "Riley", "Geary", "Saline", "Ellis", "Ford", "Finney", "Reno", "Butler")
YEARS = (1900, 1910, 1920, 1930, 1940, 1950)
SLOW_S = 1.0


@dataclass(frozen=True, slots=True)
class StreamTimes:
    """Of one question, in seconds: the whole query, and from the start of the stream to the last step, to the first
    sentence and to the last one."""

    query: float
    verified: float
    first: float
    last: float


def timed(client: httpx.Client, question: str) -> StreamTimes:
    """Asks the question as a query, then as a stream. Raises ValueError for one that is not answered."""
    started = time.perf_counter()
    client.post("/api/v1/ai/query", json={"question": question}).raise_for_status()
    query = time.perf_counter() - started
    seen: dict[str, list[float]] = {}
    started = time.perf_counter()
    with client.stream("POST", "/api/v1/ai/stream", json={"question": question}) as response:
        for name in _events(response):
            seen.setdefault(name, []).append(time.perf_counter() - started)
    if "sentence" not in seen:
        raise ValueError(f"not answered: {question}")
    return StreamTimes(query, seen["decision"][-1], seen["sentence"][0], seen["sentence"][-1])


def _events(response: httpx.Response) -> Iterator[str]:
    """The name of each event as it arrives; of a step, which one."""
    name = ""
    for line in response.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))["stage"] if name == "stage" else name


def measure(server: PageServer, count: int) -> list[StreamTimes]:
    """The questions, after one that opens everything."""
    asked = [f"What was the population of {county} County in {year}?" for year in YEARS for county in COUNTIES]
    with httpx.Client(base_url=server.origin, timeout=60) as client:
        timed(client, asked[0])
        return [timed(client, question) for question in asked[1 : count + 1]]


def told(name: str, found: list[StreamTimes]) -> str:
    """One line of figures."""
    query, first = (median(getattr(each, part) for each in found) for part in ("query", "first"))
    ratio = median(each.first / each.query for each in found)
    after = sorted(each.last - each.verified for each in found)
    return (
        f"{name}: query {1000 * query:.1f} ms, first sentence {1000 * first:.1f} ms, ratio {ratio:.2f}; "
        f"last sentence after it was verified: median {1000 * median(after):.1f} ms, most {1000 * after[-1]:.1f} ms"
    )


async def main() -> None:
    """Both models, a line each."""
    with tempfile.TemporaryDirectory() as name, page_server(Path(name)) as server:
        print(told("extractive", await asyncio.to_thread(measure, server, 50)))
    double = OllamaDouble(stall_s=SLOW_S / 2)
    async with serving(double) as url:
        environment = {"EXHIBIT_MODELS__CHAT": "tiny", "EXHIBIT_MODELS__OLLAMA_URL": url}
        with tempfile.TemporaryDirectory() as name, page_server(Path(name), environment=environment) as server:
            print(told("slow model", await asyncio.to_thread(measure, server, 10)))


if __name__ == "__main__":
    asyncio.run(main())
