"""Our witness over HTTP, and a served log that is cosigned by two of them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import uvicorn
from asgi_lifespan import LifespanManager

from api.cli.main import run
from api.errors import SettingsInvalid
from api.home.backends import backends_of
from api.home.configuration import load
from api.http.app import create_app
from api.http.witness import MAX_BODY_BYTES, create_witness_app
from api.problems import EXIT_VERIFICATION
from api.wiring import open_system
from api.wiring.ledger.log import kept_signed, last_shard, open_log_to_write, trust_policy
from ledger.errors import LogForked, WitnessUnavailable
from ledger.model import Kind
from ledger.notes.note import parse_vkey
from ledger.notes.trust import parse_policy
from ledger.proofs.receipt import seen_at, verify_receipt
from ledger.witnesses.http import MAX_REPLY_BYTES, HttpWitness
from ledger.witnesses.witness import SIZE_TYPE, AddCheckpoint
from tests.api_world import POPULATION, make_world
from tests.ledger_doubles import MemoryLedgerStore
from tests.ledger_long import LOG_KEY, grow
from tests.ledger_witnesses import policy_text, witness_key

URL = "http://witness.test/"


@pytest.fixture
async def transport(tmp_path: Path) -> AsyncIterator[httpx.ASGITransport]:
    app = create_witness_app(tmp_path / "witness.sqlite", key=witness_key(1), logs=[LOG_KEY.verifier])
    async with LifespanManager(app):
        yield httpx.ASGITransport(app=app)


async def test_the_protocol_over_http(transport: httpx.ASGITransport) -> None:
    small, large = await grow(MemoryLedgerStore(), [1, 2])
    witness = HttpWitness(URL, transport=transport)
    asked = str(AddCheckpoint(0, (), small.note))
    assert (await witness.add_checkpoint(asked)).status == 200
    reply = await witness.add_checkpoint(str(AddCheckpoint(0, (), large.note)))
    assert (reply.status, reply.body, reply.content_type) == (409, "1\n", SIZE_TYPE)
    assert (await witness.add_checkpoint("nonsense")).status == 400
    async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
        assert (await client.get("/add-checkpoint")).status_code == 405
        assert (await client.post("/add-checkpoint", content=b"\xff")).status_code == 400
        assert (await client.post("/add-checkpoint", content=b"x" * (MAX_BODY_BYTES + 1))).status_code == 413
        assert (await client.get("/vkey")).text == f"{witness_key(1).verifier}\n"
    await witness.aclose()


def says(response: httpx.Response) -> httpx.MockTransport:
    return httpx.MockTransport(lambda request: response)


@pytest.mark.parametrize(
    "response", [httpx.Response(200, content=b"\xff"), httpx.Response(200, content=b"x" * (MAX_REPLY_BYTES + 1))]
)
async def test_replies_that_no_witness_gives(response: httpx.Response) -> None:
    witness = HttpWitness(URL, transport=says(response))
    with pytest.raises(WitnessUnavailable):
        await witness.add_checkpoint("x")
    await witness.aclose()


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "ftp://x", "nonsense", "http://[::1", "http://\x00"])
async def test_a_witness_that_cannot_be_reached(url: str) -> None:
    witness = HttpWitness(url, deadline_s=1.0)
    with pytest.raises(WitnessUnavailable):
        await witness.add_checkpoint("x")
    await witness.aclose()


@contextlib.asynccontextmanager
async def served(folder: Path, number: int, log: str) -> AsyncIterator[str]:
    """Witness n on a port of this machine."""
    app = create_witness_app(folder / f"w{number}.sqlite", key=witness_key(number), logs=[parse_vkey(log)])
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listening.close()


def with_urls(policy: bytes, *urls: str) -> bytes:
    lines = policy.decode().split("\n")
    for number, url in enumerate(urls, start=1):
        lines = [f"{line} {url}" if line.startswith(f"witness w{number} ") else line for line in lines]
    return "\n".join(lines).encode()


async def test_a_home_is_cosigned_and_left_when_its_witnesses_have_seen_more(tmp_path: Path) -> None:
    file = tmp_path / "trust.policy"
    home = load(
        {"EXHIBIT_LEDGER__CHECKPOINT_MS": "50", "EXHIBIT_LEDGER__TRUST_POLICY": str(file)}, home=tmp_path / "home"
    )
    home.home.mkdir()
    ledger = await open_log_to_write(home)
    async with served(tmp_path, 1, ledger.vkey) as first, served(tmp_path, 2, ledger.vkey) as second:
        file.write_bytes(with_urls(policy_text(parse_vkey(ledger.vkey)), first, second))
        policy = parse_policy(file.read_bytes())
        async with kept_signed(home, ledger):
            for number in range(3):
                entry = await ledger.record(
                    Kind.INTENT, tenant="default", request_id=f"r{number}", parts={"question": b"Who?"}
                )
                verified = verify_receipt(
                    await ledger.receipt(entry.entry_id, disclose=()), vkey=ledger.vkey, policy=policy
                )
                assert verified.cosigned is not None
        seen = await ledger.checkpoint_of(verified.leaf.seen.size)
        after_s = seen_at(verified, seen.text, vkeys=[ledger.vkey], policy=policy)
        assert after_s <= verified.cosigned.by_s
        await ledger.aclose()
        asking = ["ledger", "verify", "--home", str(home.home), "--policy", str(file), "--witness"]
        assert await asyncio.to_thread(run, asking) == 0
        for path in home.home.iterdir():  # an old copy of everything is put back: of before the first entry
            if path.is_file():
                path.unlink()
        ledger = await open_log_to_write(home)
        with pytest.raises(LogForked, match="cosigned 3"):
            async with kept_signed(home, ledger):
                pass
        await ledger.aclose()
        assert await last_shard(backends_of(home).ledger) == 1
        assert await asyncio.to_thread(run, asking) == EXIT_VERIFICATION
        async with open_system(home, empty=True, signing=True) as system:  # as `serve` does
            assert system.services.ledger.origin == "exhibit.local/ledger/2"
            (incident,) = await system.services.ledger.entries(limit=10)
            assert incident.leaf.kind is Kind.INCIDENT
            assert b"cosigned 3" in await system.services.ledger.part(incident.leaf.entry_id, "detail")
            assert not verify_receipt(
                await system.services.ledger.receipt(incident.leaf.entry_id, disclose=()),
                vkey=system.services.ledger.vkey,
            ).witnessed


@pytest.mark.parametrize(
    "text",
    [
        policy_text(LOG_KEY.verifier, 1),
        policy_text(LOG_KEY.verifier, 2, "any"),
        b"quorum nobody\n",
        b"",
        None,
    ],
)
def test_a_policy_under_which_one_operator_decides_is_refused(
    tmp_path: Path, text: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "trust.policy"
    if text is not None:
        file.write_bytes(text)
    monkeypatch.setenv("EXHIBIT_LEDGER__TRUST_POLICY", str(file))
    configured = load({"EXHIBIT_LEDGER__TRUST_POLICY": str(file)}, home=tmp_path)
    with pytest.raises(SettingsInvalid):
        trust_policy(configured.settings)
    assert run(["serve", "--home", str(tmp_path), "--port", "0"]) == 2


def test_in_a_network_of_ones_own_one_operator_may_decide(tmp_path: Path) -> None:
    file = tmp_path / "trust.policy"
    file.write_bytes(policy_text(LOG_KEY.verifier, 1))
    environment = {"EXHIBIT_LEDGER__TRUST_POLICY": str(file), "EXHIBIT_LEDGER__WITNESS_OPERATORS": "1"}
    policy = trust_policy(load(environment, home=tmp_path).settings)
    assert policy is not None
    assert not policy.needs_two_operators()
    assert trust_policy(load({}, home=tmp_path).settings) is None


async def test_a_receipt_that_no_checkpoint_covers_yet_is_503(tmp_path: Path) -> None:
    world = await make_world(tmp_path, {"EXHIBIT_LEDGER__CHECKPOINT_MS": "3600000"})
    app = create_app(world.configuration)
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 50_000), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
            body = (await client.post("/api/v1/ai/query", json={"question": POPULATION})).json()
            link = body["provenance"]["receipt"]
            pending = await client.get(link)
            assert (pending.status_code, pending.headers["retry-after"]) == (503, "1")
            assert pending.json()["error"]["code"] == "LEDGER_UNAVAILABLE"
            ledger = app.state.live.system.services.ledger
            await ledger.head.announce(await ledger.head.checkpoint())
            assert (await client.get(link)).status_code == 200
