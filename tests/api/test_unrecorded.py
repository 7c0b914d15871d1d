"""Nothing of an answer leaves before its outcome is on record: the log takes the intent, and refuses the rest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest
from asgi_lifespan import LifespanManager

from api.http.app import create_app
from tests.api.test_stream import STEPS, parsed
from tests.api_world import POPULATION, make_world

pytestmark = pytest.mark.asyncio(loop_scope="session")
ANSWER = "85,200"
CHAT = {"messages": [{"id": "m", "role": "user", "parts": [{"type": "text", "text": POPULATION}]}]}


@contextmanager
def refusing(home: Path, kind: str) -> Iterator[None]:
    """The log's file takes no entry of that kind, as a disk that is full by then would not."""
    log = apsw.Connection(str(home / "ledger.sqlite"))
    log.set_busy_timeout(10_000)
    log.execute(
        f'CREATE TRIGGER full BEFORE INSERT ON leaves WHEN instr(CAST(NEW.leaf AS TEXT), \'"kind":"{kind}"\')'
        " BEGIN SELECT RAISE(ABORT, 'disk full'); END"
    )
    try:
        yield
    finally:
        log.execute("DROP TRIGGER full")
        log.close()


@pytest.mark.parametrize("kind", ["intent", "outcome"])
@pytest.mark.parametrize("question", [POPULATION, "What was the population of Shawnee County in 1870?"])
async def test_a_stream_that_is_not_recorded_holds_no_sentence_and_no_outcome(
    tmp_path: Path, kind: str, question: str
) -> None:
    world = await make_world(tmp_path)
    app = create_app(world.configuration)
    async with LifespanManager(app, startup_timeout=60):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 1), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:

            async def asked(path: str, body: Any) -> httpx.Response:
                return await client.post(f"/api/v1/ai/{path}", json=body)

            told = (await asked("stream", {"question": question})).text
            with refusing(world.configuration.home, kind):
                query = await asked("query", {"question": question})
                stream = await asked("stream", {"question": question})
                said = CHAT["messages"][0] | {"parts": [{"type": "text", "text": question}]}
                chat = await asked("stream?format=ui-message-stream", {"messages": [said]})
            again = (await asked("stream", {"question": question})).text
    assert parsed(told)[-1][1] == parsed(again)[-1][1] == "done"
    assert (query.status_code, query.json()["error"]["code"]) == (503, "LEDGER_UNAVAILABLE")
    *steps, (_, last, data) = parsed(stream.text)
    assert [json.loads(each)["stage"] for _, _, each in steps] == STEPS[: len(steps)]
    assert (last, json.loads(data)["error"]["code"]) == ("error", "LEDGER_UNAVAILABLE")
    for text in (query.text, stream.text, chat.text):
        assert ANSWER not in text
        assert "ABSTAIN" not in text
        assert "outcome" not in text
        assert str(tmp_path) not in text
    assert '"type":"error"' in chat.text
    assert "text-delta" not in chat.text
    assert chat.text.rstrip().endswith("data: [DONE]")
