"""The engine on an OPA server, before a server that lies: nothing but a plain result of our bundle gets through."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path

import pytest

from api.wiring.circuits import POLICY, Circuits
from policy.bundles.bundle import load_bundle
from policy.errors import OpaNotResponding, OpaUnavailable, PolicyUnavailable
from policy.model import Effect, PromptFacts, RequestFacts, Subject
from policy.opa.http import MAX_REPLY_BYTES, OpaHttp
from policy.opa.server import OpaServerEngine
from policy.points import PolicyPoints
from tests.opa_liar import ALLOW, BUNDLE, OpaLiar, Tell, document, drip, flood, hang, opa_liar, raw, reply
from tests.opa_server import free_port

DATA = load_bundle().data
OTHER = "sha256:" + "c" * 64
GOOD = reply(document(result=ALLOW))

LIES: dict[str, tuple[str, Tell]] = {
    "no provenance": ("BUNDLE_UNNAMED", reply(b"{}")),
    "a result of nobody": ("BUNDLE_UNNAMED", reply(json.dumps({"result": ALLOW}).encode())),
    "a revision that is a number": (
        "BUNDLE_UNNAMED",
        reply(b'{"provenance":{"bundles":{"b":{"revision":1}}},"result":1}'),
    ),
    "bundles as a list": ("BUNDLE_UNNAMED", reply(b'{"provenance":{"bundles":[{"revision":"x"}]},"result":1}')),
    "provenance as a text": ("BUNDLE_UNNAMED", reply(b'{"provenance":"x","result":1}')),
    "another revision": ("BUNDLE_MISMATCH", reply(document(OTHER, result=ALLOW))),
    "another revision, undefined": ("BUNDLE_MISMATCH", reply(document(OTHER))),
    "an empty revision": ("BUNDLE_MISMATCH", reply(document("", result=ALLOW))),
    "our revision as a bundle's name": (
        "BUNDLE_MISMATCH",
        reply(json.dumps({"provenance": {"bundles": {BUNDLE: {"revision": OTHER}}}, "result": ALLOW}).encode()),
    ),
    "500": ("STATUS", reply(b'{"code":"internal_error"}', "500 Internal Server Error")),
    "500 with an allowance": ("STATUS", reply(document(result=ALLOW), "500 Internal Server Error")),
    "503": ("STATUS", reply(b"", "503 Service Unavailable")),
    "400": ("STATUS", reply(b"{}", "400 Bad Request")),
    "404": ("STATUS", reply(b"{}", "404 Not Found")),
    "201 with an allowance": ("STATUS", reply(document(result=ALLOW), "201 Created")),
    "401": ("CREDENTIALS", reply(b"{}", "401 Unauthorized")),
    "403 with an allowance": ("CREDENTIALS", reply(document(result=ALLOW), "403 Forbidden")),
    "NaN": ("NOT_JSON", reply(document(result=ALLOW)[:-1] + b',"metrics":NaN}')),
    "Infinity": ("NOT_JSON", reply(document()[:-1] + b',"result":Infinity}')),
    "a fraction": ("NOT_JSON", reply(document(result=0.5))),
    "a large integer": ("NOT_JSON", reply(document(result=2**53))),
    "two results": ("NOT_JSON", reply(document(result=1)[:-1] + b',"result":2}')),
    "half a surrogate pair": ("NOT_JSON", reply(document(result="\ud800"))),
    "bytes that are no text": ("NOT_JSON", reply(b"\xff\xfe\xff")),
    "no body": ("NOT_JSON", reply(b"")),
    "a page": ("NOT_JSON", reply(b"<html>welcome</html>")),
    "half a document": ("NOT_JSON", reply(document(result=ALLOW)[:-9])),
    "deep": ("NOT_JSON", reply(b"[" * 500_000)),
    "compressed unasked": (
        "NOT_JSON",
        reply(gzip.compress(document(result=ALLOW)), headers="Content-Encoding: gzip\r\n"),
    ),
    "a list": ("SCHEMA", reply(b"[]")),
    "null": ("SCHEMA", reply(b"null")),
    "10 MB": ("TOO_LARGE", reply(b" " * 10_000_000)),
    "a byte too many": ("TOO_LARGE", reply(b" " * (MAX_REPLY_BYTES + 1))),
    "no end": ("TOO_LARGE", flood),
    "a hang": ("TIMEOUT", hang),
    "a byte at a time": ("TIMEOUT", drip),
    "half a reply": ("CUT_OFF", raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + document(result=ALLOW))),
    "half a head": ("CUT_OFF", raw(b"HTTP/1.1 200 OK\r\nContent-Le")),
    "no reply": ("CUT_OFF", raw(b"")),
    "no HTTP": ("CUT_OFF", raw(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")),
    "two lengths": ("CUT_OFF", raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\n{}")),
}


def engine_for(liar: OpaLiar, **options: str) -> OpaServerEngine:
    guard = Circuits().of_policy()
    return OpaServerEngine.open(liar.url, bundle_digest=BUNDLE, guard=guard, **options)  # type: ignore[arg-type]


def deadline_of(problem: str) -> float:
    return 0.15 if problem == "TIMEOUT" else 20.0


@pytest.mark.parametrize("lie", sorted(LIES))
async def test_a_lie_is_no_decision_and_says_which(lie: str) -> None:
    problem, tell = LIES[lie]
    async with opa_liar(tell) as liar:
        engine = engine_for(liar)
        with pytest.raises(OpaUnavailable) as caught:
            await engine.evaluate("kfm/ai/query", b"{}", deadline_s=deadline_of(problem))
        assert caught.value.problem == problem
        assert isinstance(caught.value, OpaNotResponding) == (problem in {"TIMEOUT", "CUT_OFF"})
        assert caught.value.code == "POLICY_UNAVAILABLE"
        assert len(liar.asked) == 1, "a call is never repeated"
        liar.tell = GOOD
        assert json.loads((await engine.evaluate("kfm/ai/query", b"{}", deadline_s=20)).results) == [{"result": ALLOW}]
        await engine.aclose()


async def test_a_redirect_is_not_followed() -> None:
    async with opa_liar(GOOD) as target:
        moved = reply(b"", "307 Temporary Redirect", f"Location: {target.url}/v1/data/kfm/ai/query\r\n")
        async with opa_liar(moved) as liar:
            engine = engine_for(liar, token="t")
            with pytest.raises(OpaUnavailable) as caught:
                await engine.evaluate("kfm/ai/query", b"{}", deadline_s=20)
            await engine.aclose()
        assert caught.value.problem == "STATUS"
        assert target.asked == []


@pytest.mark.parametrize("lie", ["undefined", *sorted(LIES)])
async def test_no_lie_is_an_allowance_at_a_point(lie: str) -> None:
    problem, tell = ("UNDEFINED", reply(document())) if lie == "undefined" else LIES[lie]
    async with opa_liar(tell) as liar:
        engine = engine_for(liar)
        points = PolicyPoints(engine=engine, clock_ms=lambda: 1_000, deadline_s=deadline_of(problem), data=DATA)
        subject = Subject.of(id="u1", tenant="t1", roles=("contributor",), groups=(), data=DATA)
        prompt = PromptFacts(chars=20, verdict="ALLOW", risk=0)
        try:
            decision = await points.query(request=RequestFacts(id="r1"), subject=subject, prompt=prompt, classes=())
        except PolicyUnavailable:
            assert lie != "undefined"
        else:
            assert lie == "undefined"
            assert decision.effect is Effect.DENY
            assert [each.code for each in decision.reasons] == ["POLICY_DECISION_INVALID.UNDEFINED"]
        await engine.aclose()


async def test_what_is_asked_and_with_what() -> None:
    async with opa_liar(GOOD) as liar:
        engine = engine_for(liar, token="the-token")
        assert engine.name == "opa"
        found = await engine.evaluate("kfm/ai/query", b'{"a":1}', deadline_s=20)
        await engine.aclose()
    [(head, body)] = liar.asked
    assert head.startswith("POST /v1/data/kfm/ai/query?provenance=true HTTP/1.1\r\n")
    assert "authorization: bearer the-token\r\n" in head.lower()
    assert "accept-encoding: identity\r\n" in head.lower()
    assert json.loads(body) == {"input": {"a": 1}}
    assert (found.bundle_digest, engine.name) == (BUNDLE, "opa:1.22.0")


async def test_a_large_input_arrives_whole() -> None:
    asked = b'"' + b"x" * 3_000_000 + b'"'
    async with opa_liar(GOOD) as liar:
        engine = engine_for(liar)
        await engine.evaluate("kfm/ai/query", asked, deadline_s=60)
        await engine.aclose()
    [(head, body)] = liar.asked
    assert "content-encoding" not in head.lower()
    assert body == b'{"input":' + asked + b"}"


async def test_connections_are_kept_and_shared_by_calls_that_follow() -> None:
    async with opa_liar(GOOD) as liar:
        engine = engine_for(liar)
        for _ in range(5):
            await engine.evaluate("kfm/ai/query", b"{}", deadline_s=20)
        await engine.aclose()
    assert (len(liar.asked), liar.connections) == (5, 1)


async def test_a_call_that_was_given_up_leaves_no_connection_to_the_next() -> None:
    """Else the reply to the one could be taken for the reply to the other."""
    async with opa_liar(hang) as liar:
        engine = engine_for(liar)
        with pytest.raises(OpaUnavailable):
            await engine.evaluate("kfm/ai/query", b"{}", deadline_s=0.1)
        liar.tell = GOOD
        await engine.evaluate("kfm/ai/query", b"{}", deadline_s=20)
        await engine.aclose()
    assert (len(liar.asked), liar.connections) == (2, 2)


async def test_a_cookie_is_not_kept() -> None:
    async with opa_liar(reply(document(result=ALLOW), headers="Set-Cookie: a=b; Path=/\r\n")) as liar:
        engine = engine_for(liar)
        for _ in range(2):
            await engine.evaluate("kfm/ai/query", b"{}", deadline_s=20)
        await engine.aclose()
    assert not any("cookie" in head.lower() for head, _ in liar.asked)


async def test_no_proxy_and_no_password_of_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    async with opa_liar(GOOD) as liar:
        engine = engine_for(liar)
        await engine.evaluate("kfm/ai/query", b"{}", deadline_s=20)
        await engine.aclose()
    assert "authorization" not in liar.asked[0][0].lower()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "opa",
        "ftp://opa",
        "http://",
        "http://a@opa",
        "http://opa?x=1",
        "http://opa#x",
        "http://opa:x",
        "http://opa:0",
        "http://opa:99999",
        "http://[::1",
        "unix://opa.sock",
        "unix://host/opa.sock",
    ],
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(OpaUnavailable) as caught:
        OpaServerEngine.open(url, bundle_digest=BUNDLE)
    assert caught.value.problem == "ADDRESS"


@pytest.mark.parametrize("token", ["a\r\nX: y", "a\n", "é"])
def test_a_token_that_cannot_be_sent_is_refused(token: str) -> None:
    with pytest.raises(OpaUnavailable) as caught:
        OpaServerEngine.open("http://opa", bundle_digest=BUNDLE, token=token)
    assert caught.value.problem == "CREDENTIALS"


async def test_without_a_token_none_is_sent() -> None:
    async with opa_liar(GOOD) as liar:
        engine = engine_for(liar)
        await engine.evaluate("kfm/ai/query", b"{}", deadline_s=20)
        await engine.aclose()
    assert "authorization" not in liar.asked[0][0].lower()


@pytest.mark.parametrize("version", ["", "1 22", "x" * 41, 'v"\n', "１"])
async def test_a_version_that_is_none_does_not_come_into_stamps(version: str) -> None:
    body = {"provenance": {"version": version, "bundles": {"b": {"revision": BUNDLE}}}, "result": ALLOW}
    async with opa_liar(reply(json.dumps(body).encode())) as liar:
        engine = engine_for(liar)
        await engine.evaluate("kfm/ai/query", b"{}", deadline_s=20)
        await engine.aclose()
    assert engine.name == "opa"


@pytest.mark.parametrize("entrypoint", ["kfm/ai", "kfm/ai/query/effect", "../v1/policies", "kfm/ai/query?x=", ""])
async def test_only_the_entry_points_are_asked_for(entrypoint: str) -> None:
    async with opa_liar(GOOD) as liar:
        engine = engine_for(liar)
        with pytest.raises(OpaUnavailable):
            await engine.evaluate(entrypoint, b"{}", deadline_s=20)
        await engine.aclose()
    assert liar.asked == []


# --------------------------------------------------------------------------------------------------------- the breaker


async def failing(engine: OpaServerEngine, deadline_s: float = 20) -> str:
    with pytest.raises(OpaUnavailable) as caught:
        await engine.evaluate("kfm/ai/query", b"{}", deadline_s=deadline_s)
    return caught.value.problem


async def test_a_server_that_is_gone_is_left_alone_and_found_again() -> None:
    now_s = 100.0
    port = free_port()
    http = OpaHttp(f"http://127.0.0.1:{port}")
    circuits = Circuits(clock=lambda: now_s)
    engine = OpaServerEngine(http=http, bundle_digest=BUNDLE, guard=circuits.of_policy())
    assert [await failing(engine) for _ in range(7)] == ["UNREACHABLE"] * 5 + ["CIRCUIT_OPEN"] * 2
    assert circuits.states() == {POLICY: "open"}
    now_s += 1.1
    assert [await failing(engine) for _ in range(2)] == ["UNREACHABLE", "CIRCUIT_OPEN"]
    async with opa_liar(GOOD, port=port) as liar:
        assert await failing(engine) == "CIRCUIT_OPEN"
        assert liar.asked == []
        now_s += 1.1
        for _ in range(3):
            await engine.evaluate("kfm/ai/query", b"{}", deadline_s=20)
        await engine.aclose()


async def test_an_input_that_makes_a_rule_fail_does_not_shut_out_others() -> None:
    async with opa_liar(reply(b"{}", "500 Internal Server Error")) as liar:
        engine = engine_for(liar)
        assert [await failing(engine) for _ in range(20)] == ["STATUS"] * 20
        liar.tell = GOOD
        await engine.evaluate("kfm/ai/query", b"{}", deadline_s=20)
        await engine.aclose()


async def test_the_callers_own_timer_counts_as_silence() -> None:
    async with opa_liar(hang) as liar:
        engine = engine_for(liar)
        for _ in range(5):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await engine.evaluate("kfm/ai/query", b"{}", deadline_s=0.05)
        assert await failing(engine) == "CIRCUIT_OPEN"
        await engine.aclose()


async def test_a_caller_who_goes_away_early_says_nothing_about_the_server() -> None:
    async with opa_liar(hang) as liar:
        engine = engine_for(liar)
        for _ in range(8):
            task = asyncio.create_task(engine.evaluate("kfm/ai/query", b"{}", deadline_s=60))
            await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        liar.tell = GOOD
        await engine.evaluate("kfm/ai/query", b"{}", deadline_s=20)
        await engine.aclose()
