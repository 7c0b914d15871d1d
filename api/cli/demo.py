"""`exhibit demo`: from an empty folder to proved answers, in one command."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from api.cli.ask import readable
from api.cli.console import bold, configuration, dim, note, styled
from api.cli.options import AsJson, Home

if TYPE_CHECKING:
    from api.home.configuration import Configuration
    from api.wiring import System

app = typer.Typer(
    help="Ingest the sample corpus, ask, show cited answers, verify the receipts.",
    add_completion=False,
    rich_markup_mode=None,
)


@app.command()
def demo(home: Home = None, as_json: AsJson = False) -> None:
    """Exit code 0 only if everything that is claimed was seen."""
    configured = _fresh(home)
    say: Callable[[str], None] = note if as_json else print
    report = asyncio.run(_play(configured, say))
    if as_json:
        import json

        print(json.dumps(report, ensure_ascii=False, indent=2))


def _fresh(home: Path | None) -> Configuration:
    """An empty home: the one named, ./exhibit-home if there is none yet, else a temporary folder. What is there is
    never touched."""
    from api.errors import HomeInUse

    configured = configuration(home)
    used = configured.home.exists() and any(configured.home.iterdir())
    if not used:
        return configured
    if home is not None or os.environ.get("EXHIBIT_HOME"):
        raise HomeInUse(f"{configured.home} is in use; the demo needs an empty folder")
    return configuration(Path(tempfile.mkdtemp(prefix="exhibit-demo-")))


async def _play(configured: Configuration, say: Callable[[str], None]) -> dict[str, Any]:
    from api.measure import demonstration as shown
    from api.wiring import open_system

    started = time.perf_counter()
    corpus = shown.sample_corpus()
    say(f"{bold('Exhibit')} in {configured.home}, from {corpus}\n")
    with tempfile.TemporaryDirectory(prefix="exhibit-demo-") as scratch:
        without = replace(configured, home=Path(scratch) / "without")
        with _ingest_beside(without, shown.public_manifest(corpus, Path(scratch) / "corpus")) as beside:
            await _ingest(configured, corpus / "manifest.toml", say)
            bodies = await _scenes(configured, say)
            await _ended(beside)
        await _hidden_changes_nothing(without, bodies, say)
        async with open_system(configured) as system:
            await _receipts(bodies, system, say)
            grades = await _replay(system, say)
            vkey = system.services.ledger.vkey
        found = await _tampered(configured, Path(scratch), say)
    elapsed_s = round(time.perf_counter() - started, 1)
    say(f"\n{styled('every claim above was checked', '32')} in {elapsed_s} s")
    say(dim(f'next:   export EXHIBIT_HOME={configured.home}\n        exhibit ask "{shown.SCENES[0].question}"'))
    return {
        "home": str(configured.home),
        "scenes": [_scene_json(scene.shows, body) for scene, body in zip(shown.SCENES, bodies, strict=True)],
        "receipts_verified": len(bodies),
        "vkey": vkey,
        "replay": grades,
        "tampering": found,
        "elapsed_s": elapsed_s,
    }


async def _ingest(configured: Configuration, manifest: Path, say: Callable[[str], None]) -> None:
    from api.cli.corpus.ingest import report_text, take_in
    from api.errors import ExpectationFailed

    report = await take_in(configured, [], manifest=manifest, quiet=True)
    say(report_text(report))
    if report.failed:
        raise ExpectationFailed(f"{len(report.failed)} files of the sample corpus were not ingested")


async def _scenes(configured: Configuration, say: Callable[[str], None]) -> list[dict[str, Any]]:
    from api.measure import demonstration as shown
    from api.wiring import open_system

    bodies = []
    async with open_system(configured) as system:
        for number, scene in enumerate(shown.SCENES, start=1):
            say(f"\n{styled(f'{number:2}  {scene.shows}', '36')}")
            asker = "" if scene.role == "public_viewer" else f"  ({scene.role})"
            say(f"    {scene.question}{dim(asker)}")
            body = await shown.play(scene, system)
            for line in readable(body):
                say(f"    {line}" if line else "")
            bodies.append(body)
    return bodies


@contextmanager
def _ingest_beside(configured: Configuration, manifest: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Takes in the corpus without its hidden sources in a process of its own, which has a core to itself and ends with
    the block."""
    arguments = ("-m", "api.cli.main", "ingest", "--manifest", str(manifest), "--home", str(configured.home))
    with subprocess.Popen(  # noqa: S603  our own command
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            process.kill()


async def _ended(beside: subprocess.Popen[bytes]) -> None:
    from api.errors import ExpectationFailed

    _, err = await asyncio.to_thread(beside.communicate)
    if beside.returncode != 0:
        raise ExpectationFailed(f"the corpus without hidden documents was not ingested: {err.decode()[-300:]}")


async def _hidden_changes_nothing(
    without: Configuration, bodies: list[dict[str, Any]], say: Callable[[str], None]
) -> None:
    """Ask the public questions of a corpus that never held what is hidden, and compare the bodies."""
    from api.errors import ExpectationFailed
    from api.measure import demonstration as shown
    from api.wiring import open_system

    compared = 0
    async with open_system(without) as system:
        for scene, body in zip(shown.SCENES, bodies, strict=True):
            if scene.role == "public_viewer":
                again = await shown.play(scene, system)
                if shown.without_identity(again) != shown.without_identity(body):
                    raise ExpectationFailed(f"hidden documents changed the answer to: {scene.question}")
                compared += 1
    said = f"{compared} public answers equal those of a corpus that never held the hidden documents"
    say(f"\n{bold('hidden evidence')}  {said}")


async def _receipts(bodies: list[dict[str, Any]], system: System, say: Callable[[str], None]) -> None:
    from api.measure import demonstration as shown

    verified = [await shown.check_receipt(body, system) for body in bodies]
    said = f"{len(verified)} of {len(bodies)} verify offline (unwitnessed) with the key {system.services.ledger.vkey}"
    say(f"{bold('receipts')}         {said}")


async def _replay(system: System, say: Callable[[str], None]) -> dict[str, int]:
    from api.cli.replay import GradeLimit, grades, replay_all
    from api.errors import ExpectationFailed

    results = [result async for result in replay_all(system, up_to=GradeLimit.R1)]
    short = [result for result in results if not result.reproduced]
    if short:
        raise ExpectationFailed(f"{len(short)} entries were not reproduced; the first differs at {short[0].differs_at}")
    again = sum(str(result.grade) == "R1" for result in results)
    said = f"{again} outcomes recomputed to the recorded bytes (R1), {len(results) - again} intents proved (R0)"
    say(f"{bold('replay')}           {said}")
    return grades(results)


async def _tampered(configured: Configuration, scratch: Path, say: Callable[[str], None]) -> Mapping[str, Any]:
    from api.errors import ExpectationFailed
    from api.measure import demonstration as shown
    from api.wiring import open_ledger

    async with open_ledger(configured) as ledger:
        intact = await ledger.verify()
    if not intact.ok:
        raise ExpectationFailed(f"the ledger does not verify: {intact.problems[0]}")
    copy = scratch / "tampered"
    copy.mkdir()
    report, index = await shown.tampered(configured, copy)
    named = [problem for problem in report.problems if problem.index == index]
    if report.ok or not named:
        raise ExpectationFailed("a flipped byte in the ledger was not found")
    said = f"intact, unwitnessed: {intact.entries} entries, {intact.parts} parts; one bit flipped in a copy: {named[0]}"
    say(f"{bold('ledger')}           {said}")
    return {"verdict": str(report.verdict), "problem": str(named[0]), "index": index}


def _scene_json(shows: str, body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "shows": shows,
        "outcome": body["outcome"],
        "answer": body["answer"],
        "entry_id": body["provenance"]["entry_id"],
    }
