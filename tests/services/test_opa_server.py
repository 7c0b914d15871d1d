"""The engine on a real OPA server: the same decisions as the embedded engine, and no others whatever happens to it."""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from api.wiring.circuits import Circuits
from policy.authoring.opa import Opa, OpaFailed
from policy.authoring.server_bundle import archive, main, server_bundle
from policy.authoring.testing.vectors import patched
from policy.bundles.bundle import SHIPPED, load_bundle, read_sources
from policy.canonical import canonical
from policy.checks import decision_of
from policy.errors import BundleRejected, OpaUnavailable
from policy.opa.server import OpaServerEngine
from policy.wasm import WasmEngine
from tests.edited_bundles import edited
from tests.opa_server import TOKEN, OpaServer, pinned_opa, serving
from tests.policy_world import base, damaged, vectors
from tests.services.certificates import self_signed

pytestmark = pytest.mark.services
POINTS = ("query", "evidence", "answer")
DIGEST = load_bundle().digest


@pytest.fixture(scope="module")
def opa(request: pytest.FixtureRequest) -> Opa:
    return pinned_opa(request.config)


@pytest.fixture(scope="module")
def server(opa: Opa, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpaServer]:
    with serving(OpaServer(opa, tmp_path_factory.mktemp("opa")), server_bundle()) as running:
        yield running


@asynccontextmanager
async def engine_on(url: str, digest: str = DIGEST, **options: Any) -> AsyncIterator[OpaServerEngine]:
    engine = OpaServerEngine.open(url, bundle_digest=digest, **({"token": TOKEN} | options))
    try:
        yield engine
    finally:
        await engine.aclose()


async def problem_of(engine: OpaServerEngine, point: str = "query") -> str | None:
    """What is wrong with the next decision; None where it is made."""
    try:
        await engine.evaluate(f"kfm/ai/{point}", canonical(base(point)), deadline_s=10)
    except OpaUnavailable as exc:
        return exc.problem
    return None


# ------------------------------------------------------------------------------------------------------------- parity


@pytest.mark.parametrize("point", POINTS)
async def test_both_engines_give_the_same_document_for_generated_inputs(server: OpaServer, point: str) -> None:
    draw = random.Random(f"server {point}")
    cases = vectors(point)["cases"]
    inputs = [canonical(damaged(draw, patched(base(point), draw.choice(cases)["patch"]))) for _ in range(400)]
    embedded = WasmEngine.open(load_bundle())
    allowed = 0
    async with engine_on(server.url) as engine:
        for asked in inputs:
            mine, theirs = [
                decision_of((await each.evaluate(f"kfm/ai/{point}", asked, deadline_s=10)).results)
                for each in (embedded, engine)
            ]
            assert mine == theirs, asked
            allowed += mine["effect"] != "deny"
    await embedded.aclose()
    assert allowed >= len(inputs) * 0.3


async def test_parity_is_seen_where_it_is_broken(opa: Opa, tmp_path: Path) -> None:
    """The planted divergence: the same digest as revision, but other rules behind it."""
    sources = read_sources(edited(tmp_path / "other", lambda data: data["labels"].update(restricted=0)) / "rego")
    tampered = archive({".manifest": json.dumps({"revision": DIGEST, "roots": ["kfm"]}).encode(), **sources})
    asked = canonical(patched(base("query"), [["set", "classes/0/label", "restricted"]]))
    embedded = WasmEngine.open(load_bundle())
    (tmp_path / "run").mkdir()
    with serving(OpaServer(opa, tmp_path / "run"), tampered) as running:
        async with engine_on(running.url) as engine:
            theirs = await engine.evaluate("kfm/ai/query", asked, deadline_s=10)
    mine = await embedded.evaluate("kfm/ai/query", asked, deadline_s=10)
    await embedded.aclose()
    assert decision_of(mine.results) != decision_of(theirs.results)


async def test_allow_answer(server: OpaServer) -> None:
    async with engine_on(server.url) as engine:
        for case in vectors("allow_answer")["cases"]:
            reply = await engine.evaluate("kfm/ai/allow_answer", canonical(case["input"]), deadline_s=10)
            assert json.loads(reply.results) == [{"result": case["result"]}]


@pytest.mark.parametrize("point", ["query", "evidence"])
def test_the_work_grows_with_the_records_and_not_with_their_square(opa: Opa, tmp_path: Path, point: str) -> None:
    """By OPA's own count of evaluated expressions: eight times the records, less than twelve times the work."""

    def work(n: int) -> int:
        asked = base(point)
        name = "classes" if point == "query" else "evidence"
        asked[name] = [asked[name][0] | {"id": f"x{i}"} for i in range(n)]
        (tmp_path / "input.json").write_bytes(canonical(asked))
        options = ("-b", ".", "--ignore", "*_test.rego", "-i", str(tmp_path / "input.json"), "--profile-limit", "1000")
        found = json.loads(
            opa.run("eval", *options, "--profile", "--format=json", f"data.kfm.ai.{point}", cwd=SHIPPED / "rego")
        )
        return sum(each["num_eval"] for each in found["profile"])

    assert work(800) < 12 * work(100)


# --------------------------------------------------------------------------------------------- who may ask, and how


async def test_a_wrong_token_and_none_are_refused(server: OpaServer) -> None:
    for token in ("another", None):
        async with engine_on(server.url, token=token) as engine:
            assert await problem_of(engine) == "CREDENTIALS"


async def test_the_token_opens_the_entry_points_alone(server: OpaServer) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(base_url=server.url, headers=headers) as client:
        asked = [("GET", "/v1/policies"), ("GET", "/v1/data"), ("POST", "/v1/data/kfm/ai"), ("PUT", "/v1/policies/x")]
        asked += [("POST", "/v1/query"), ("GET", "/v1/data/kfm/config"), ("PATCH", "/v1/data"), ("GET", "/metrics")]
        for method, path in asked:
            assert (await client.request(method, path)).status_code == 401, path


def test_the_health_check_of_compose_tells_a_server_that_lives(opa: Opa, server: OpaServer) -> None:
    """The image holds nothing but this program."""
    compose = yaml.safe_load((Path(__file__).parents[2] / "compose.yaml").read_text("utf-8"))
    kind, program, *asked = compose["services"]["opa"]["healthcheck"]["test"]
    assert (kind, program) == ("CMD", "/opa")
    here = [part.replace("http://127.0.0.1:8181", server.url) for part in asked]
    assert here != asked
    opa.run(*here, cwd=SHIPPED)
    for wrong in (
        [p.replace("/health", "/none") for p in here],
        [p.replace(server.url, "http://127.0.0.1:1") for p in here],
    ):
        with pytest.raises(OpaFailed):
            opa.run(*wrong, cwd=SHIPPED)


async def test_over_a_socket(opa: Opa, tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as short:  # the path of a socket must not be long
        wanted = OpaServer(opa, tmp_path, socket=Path(short) / "opa.sock")
        async with engine_on(wanted.url) as engine:
            assert await problem_of(engine) == "UNREACHABLE"
            with serving(wanted, server_bundle()):
                assert await problem_of(engine) is None
                assert engine.name == "opa:1.22.0"


async def test_over_tls_only_with_an_authority_that_is_trusted(opa: Opa, tmp_path: Path) -> None:
    certificate = self_signed(tmp_path)
    with serving(OpaServer(opa, tmp_path, tls=certificate), server_bundle()) as running:
        async with engine_on(running.url, ca_file=certificate[0]) as engine:
            assert await problem_of(engine) is None
        async with engine_on(running.url) as engine:
            assert await problem_of(engine) == "UNREACHABLE"
        async with engine_on(running.url.replace("https", "http")) as engine:
            # Go answers 400 and hangs up; which of the two arrives first is left to chance.
            assert await problem_of(engine) in {"STATUS", "CUT_OFF"}


# ------------------------------------------------------------------------------------------------------- under load

DEADLINE_S = 0.5


@dataclass
class Load:
    """Decisions asked for at a steady rate, whatever becomes of them."""

    engine: OpaServerEngine
    outcomes: list[tuple[str, float]] = field(default_factory=list)
    lags_s: list[float] = field(default_factory=list)
    _stopped: bool = False
    _wanted: str = ""
    _came: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """50 a second until stopped."""
        async with asyncio.TaskGroup() as group:
            while not self._stopped:
                group.create_task(self._ask())
                before = time.monotonic()
                await asyncio.sleep(0.02)
                self.lags_s.append(time.monotonic() - before - 0.02)

    def stop(self) -> None:
        """Ask no more."""
        self._stopped = True

    async def phase(self, seconds: float) -> Counter[str]:
        """What came out in the next seconds."""
        seen = len(self.outcomes)
        await asyncio.sleep(seconds)
        return Counter(outcome for outcome, _ in self.outcomes[seen:])

    async def until(self, wanted: str) -> None:
        """Wait until this outcome comes, or comes again."""
        self._wanted, self._came = wanted, asyncio.Event()
        async with asyncio.timeout(30):
            await self._came.wait()

    async def _ask(self) -> None:
        started = time.monotonic()
        try:
            reply = await self.engine.evaluate("kfm/ai/query", canonical(base("query")), deadline_s=DEADLINE_S)
            outcome = "decided" if reply.bundle_digest == DIGEST else "decided by another bundle"
        except OpaUnavailable as exc:
            outcome = exc.problem
        self.outcomes.append((outcome, time.monotonic() - started))
        if outcome == self._wanted:
            self._came.set()


async def test_killed_paused_and_restarted_with_another_bundle_under_load(opa: Opa, tmp_path: Path) -> None:
    other = server_bundle(edited(tmp_path / "other", lambda data: data["limits"].update(support_milli=999)))
    silence = {"UNREACHABLE", "CUT_OFF", "TIMEOUT", "CIRCUIT_OPEN"}
    (tmp_path / "run").mkdir()
    with serving(OpaServer(opa, tmp_path / "run"), server_bundle()) as running:
        async with engine_on(running.url, guard=Circuits().of_policy()) as engine, asyncio.TaskGroup() as group:
            load = Load(engine)
            group.create_task(load.run())
            await load.until("decided")

            running.kill()
            await load.until("CIRCUIT_OPEN")
            assert set(await load.phase(0.5)) <= silence
            await asyncio.to_thread(running.start, server_bundle())
            await load.until("decided")

            running.pause()
            await load.until("CIRCUIT_OPEN")
            assert set(await load.phase(1.0)) <= silence
            running.go_on()
            await load.until("decided")

            running.kill()
            await asyncio.to_thread(running.start, other)
            await load.until("BUNDLE_MISMATCH")
            assert set(await load.phase(0.5)) <= silence | {"BUNDLE_MISMATCH"}
            running.kill()
            await asyncio.to_thread(running.start, server_bundle())
            await load.until("decided")
            load.stop()
    assert {outcome for outcome, _ in load.outcomes} <= silence | {"decided", "BUNDLE_MISMATCH"}
    # No duration is asserted beyond the promise itself, and what this machine kept our own loop waiting is added to it.
    waits_s = sorted(waited for _, waited in load.outcomes)
    assert waits_s[len(waits_s) * 99 // 100] <= DEADLINE_S + 0.25 + max(load.lags_s)


async def test_a_server_with_another_bundle_than_ours_decides_nothing(server: OpaServer) -> None:
    async with engine_on(server.url, digest="sha256:" + "0" * 64) as engine:
        assert {await problem_of(engine, point) for point in POINTS} == {"BUNDLE_MISMATCH"}
    async with engine_on(server.url) as engine:
        assert {await problem_of(engine, point) for point in POINTS} == {None}


# ------------------------------------------------------------------------------------------------------- the archive


def test_the_archive_is_the_same_each_time_and_names_the_digest(opa: Opa, tmp_path: Path) -> None:
    assert main([str(tmp_path / "bundle.tar.gz")]) == 0
    assert (tmp_path / "bundle.tar.gz").read_bytes() == server_bundle()
    shown = json.loads(opa.run("inspect", "--format=json", "bundle.tar.gz", cwd=tmp_path))
    assert shown["manifest"]["revision"] == DIGEST
    assert shown["manifest"]["roots"] == ["kfm"]


def test_an_archive_of_rego_that_was_not_compiled_is_refused(tmp_path: Path) -> None:
    folder = edited(tmp_path / "other", lambda data: None)
    (folder / "rego" / "kfm" / "more.rego").write_text("package kfm.more\n")
    with pytest.raises(BundleRejected, match=r"more\.rego"):
        server_bundle(folder)
    assert main([str(tmp_path / "out"), str(folder)]) == 1
    assert main([]) == 2
    assert not (tmp_path / "out").exists()
