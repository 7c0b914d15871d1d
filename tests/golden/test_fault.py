"""Whatever goes wrong after the intent is on the record: an outcome that says so, and no intent left dangling."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from ai.case.case import RequestFault
from ai.errors import ModelUnavailable
from ai.model import Completion
from ai.models.chat_model import ChatRequest
from ai.replay.replay import Grade, replay
from ledger.model import Kind
from retrieval.model import ChannelName
from tests.fakes_ai import ScriptedModel
from tests.fakes_retrieval import ScriptedChannel
from tests.harness import ask, opened, with_services

QUESTION = "What was the population of Shawnee County in 1930?"


class BrokenModel(ScriptedModel):
    """Fails with what it is given."""

    def __init__(self, fault: Exception) -> None:
        super().__init__("")
        self._fault = fault

    async def complete(self, request: ChatRequest) -> Completion:
        raise self._fault


@pytest.mark.parametrize(
    ("fault", "raised", "code"),
    [
        (ModelUnavailable("no such model"), RequestFault, "MODEL_UNAVAILABLE"),
        (RuntimeError("a bug"), RuntimeError, "INTERNAL"),
        (TypeError("another"), TypeError, "INTERNAL"),
    ],
)
async def test_a_fault_is_an_outcome(
    kansas_home: Path, tmp_path: Path, fault: Exception, raised: type[Exception], code: str
) -> None:
    home = tmp_path / "home"
    shutil.copytree(kansas_home, home)
    async with opened(home) as system:
        ledger = system.services.ledger
        with pytest.raises(raised):
            await ask(system, QUESTION, services=with_services(system, model=BrokenModel(fault)))
        last = (await ledger.entries(after=-1, limit=1000))[-1]
        assert last.leaf.kind is Kind.OUTCOME
        answer = json.loads(await ledger.part(last.leaf.entry_id, "answer"))
        assert (answer["outcome"], answer["reason_codes"]) == ("FAULT", [code])
        assert "bug" not in json.dumps(answer)
        assert (await ledger.verify()).dangling == ()
        replayed = await replay(last.leaf.entry_id, services=system.services)
        assert (replayed.grade, replayed.reproduced) == (Grade.R0, True)


async def test_an_answer_that_cannot_be_rendered_is_an_outcome_too(kansas_home: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(kansas_home, home)
    async with opened(home) as system:
        with pytest.raises(ValueError, match="surrogates"):
            await ask(system, QUESTION, services=with_services(system, canary="\ud800"))
        assert (await system.services.ledger.verify()).dangling == ()


async def test_a_cancelled_question_stops_the_model_and_is_an_outcome(kansas_home: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(kansas_home, home)
    async with opened(home) as system:
        ledger, model = system.services.ledger, ScriptedModel("It was 1935 [1].", delay_s=60)
        task = asyncio.create_task(ask(system, QUESTION, services=with_services(system, model=model)))
        await model.begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert model.stopped
        last = (await ledger.entries(after=-1, limit=1000))[-1]
        answer = json.loads(await ledger.part(last.leaf.entry_id, "answer"))
        assert (answer["outcome"], answer["reason_codes"]) == ("FAULT", ["CANCELLED"])
        report = await ledger.verify()
        assert report.ok and report.dangling == ()


async def test_wherever_a_question_is_cancelled_its_intent_has_one_outcome(kansas_home: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(kansas_home, home)
    async with opened(home) as system:
        ledger = system.services.ledger
        for steps in range(0, 60, 5):
            task = asyncio.create_task(ask(system, QUESTION))
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            kinds = [entry.leaf.kind for entry in await ledger.entries(after=-1, limit=1000)]
            assert kinds.count(Kind.INTENT) == kinds.count(Kind.OUTCOME), steps
        assert (await ledger.verify()).dangling == ()


async def test_a_search_that_fails_leaves_one_intent_with_its_outcome(kansas_home: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(kansas_home, home)
    async with opened(home) as system:
        ledger = system.services.ledger
        last = max((entry.index for entry in await ledger.entries(after=-1, limit=1000)), default=-1)
        broken = [ScriptedChannel(ChannelName.VECTOR, fault=RuntimeError("a bug"))]
        with pytest.raises(RuntimeError):
            await ask(system, QUESTION, services=with_services(system, channels=broken))
        kinds = [entry.leaf.kind for entry in await ledger.entries(after=last, limit=1000)]
        assert kinds == [Kind.INTENT, Kind.OUTCOME]
