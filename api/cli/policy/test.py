"""`exhibit policy test`."""

from __future__ import annotations

import asyncio
import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.console import configuration, emit
from api.cli.options import AsJson, Home
from api.problems import EXIT_FAILED

if TYPE_CHECKING:
    from policy.engine import PolicyEngine

POINTS = ("query", "evidence", "answer")
_DEADLINE_S = 5.0


def test(
    *,
    vectors: Annotated[
        Path | None, typer.Option("--vectors", help="Folder with decision vectors; default: the shipped ones.")
    ] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Decision vectors and the canary on the engine that serves. Exit code 1: a decision differs."""
    from policy.bundle import SHIPPED

    folder = vectors or SHIPPED / "vectors"
    if not folder.is_dir():
        raise typer.BadParameter("there are no decision vectors; name their folder with --vectors")
    report = asyncio.run(_run(home, folder))
    emit(report, as_json=as_json, render=lambda: _report_text(report))
    if report["failed"]:
        raise typer.Exit(EXIT_FAILED)


async def _run(home: Path | None, folder: Path) -> dict[str, Any]:
    from api.backends import backends_of
    from api.wiring import open_bundle, open_engine

    backend = backends_of(configuration(home)).policy
    bundle = open_bundle(backend)
    engine = await open_engine(backend, bundle)
    try:
        failed = [
            f"{point}: the empty input is not denied" for point in POINTS if await _effect(engine, point, {}) != "deny"
        ]
        count = len(POINTS)
        for point in POINTS:
            document = _read(folder / f"{point}.json")
            for case in document["cases"]:
                decided = brief(await _decide(engine, point, patched(document["base"], case["patch"])))
                count += 1
                if decided != case["decision"]:
                    failed.append(f"{point}: {case['name']}")
    finally:
        await engine.aclose()
    return {"bundle_digest": bundle.digest, "engine": engine.name, "cases": count, "failed": failed}


def _read(path: Path) -> dict[str, Any]:
    from api.errors import RequestRejected

    try:
        document: dict[str, Any] = json.loads(path.read_text("utf-8"))
        document["base"], document["cases"]
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise RequestRejected(f"{path} holds no decision vectors: {type(exc).__name__}") from None
    return document


async def _decide(engine: PolicyEngine, point: str, asked: dict[str, Any]) -> dict[str, Any]:
    from policy.canonical import canonical

    reply = await engine.evaluate(f"kfm/ai/{point}", canonical(asked), deadline_s=_DEADLINE_S)
    results: list[dict[str, Any]] = json.loads(reply.results)
    return results[0]["result"] if len(results) == 1 else {}


async def _effect(engine: PolicyEngine, point: str, asked: dict[str, Any]) -> Any:
    return (await _decide(engine, point, asked)).get("effect")


def patched(document: dict[str, Any], patch: list[list[Any]]) -> dict[str, Any]:
    """A copy with `["set", path, value]` and `["delete", path]` carried out; a path is keys joined by slashes, one
    past the end appends."""
    changed = copy.deepcopy(document)
    for operation, path, *value in patch:
        *parents, last = path.split("/")
        place: Any = changed
        for name in parents:
            place = place[int(name)] if isinstance(place, list) else place[name]
        key = int(last) if isinstance(place, list) else last
        if operation == "delete":
            del place[key]
        elif isinstance(place, list) and key == len(place):
            place.append(value[0])
        else:
            place[key] = value[0]
    return changed


def brief(decision: dict[str, Any]) -> dict[str, Any]:
    """A decision as the vectors write it: one line per fact, sorted."""

    def line(*words: str, target: dict[str, str], params: Any) -> str:
        return " ".join([*words, f"{target['kind']}:{target['ref']}"]) + (
            f" {json.dumps(params, sort_keys=True)}" if params else ""
        )

    return {
        "effect": decision.get("effect"),
        "admit": sorted(decision.get("admit", [])),
        "reasons": sorted(
            line(r["rule"], r["code"], r["severity"], target=r["target"], params=r["params"])
            for r in decision.get("reasons", [])
        ),
        "obligations": sorted(
            line(o["rule"], o["op"], target=o["target"], params=o["params"]) for o in decision.get("obligations", [])
        ),
    }


def _report_text(report: dict[str, Any]) -> str:
    failed = "".join(f"\nFAILED  {name}" for name in report["failed"])
    good = report["cases"] - len(report["failed"])
    return f"{good} of {report['cases']} decisions as expected on {report['engine']}{failed}"
