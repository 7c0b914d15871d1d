"""Models that pick or compose, a second try, and the default behind them: through the whole product, recorded and
replayed."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ai.answer.core import run_core
from ai.case.case import Services
from ai.errors import ModelUnavailable
from ai.model import CLAIMS_VERSION, Options
from ai.models.chat_model import StructuredRequest
from ai.models.context import template_named
from ai.models.extractive import ExtractiveModel
from ai.models.ollama_client import OllamaChat
from ai.models.openai_client import OpenAIChat
from ai.replay.attribution import attribute_all
from ai.replay.explanation import explain_difference
from ai.replay.replay import Grade, recorded_run, replay
from api import wiring
from tests.fakes_ai import HeldModel, ScriptedModel, ScriptedReader
from tests.harness import ask, opened, with_services
from tests.ollama_double import OllamaDouble, serving

FIGURE = "What was the population of Ness County in 1910?"
SAYS = "5,883"
BORDERS = "Which counties border Shawnee County?"
PROSE = "What was the Lecompton constitution?"
NOTHING = "Who won the football championship in Kansas in 2019?"
SELECT, COMPOSE, FREE = "focus_select/v2", "focus_compose/v1", "focus_mode/v2"
_OFFERED = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)


def offered(order: StructuredRequest) -> dict[int, str]:
    return {int(n): text for n, text in _OFFERED.findall(order.messages[-1].content)}


def picking(wanted: str) -> Callable[[StructuredRequest], str]:
    """Picks the sentences that hold the word."""
    return lambda order: json.dumps({"sentences": [n for n, text in offered(order).items() if wanted in text][:8]})


def composed(*sentences: tuple[str, list[int]]) -> str:
    return json.dumps({"sentences": [{"text": text, "sources": sources} for text, sources in sentences]})


def services_of(system: wiring.System, model: Any, template: str, **changes: Any) -> Services:
    changes = {"fallback": ExtractiveModel(), "repairs": True} | changes
    return with_services(system, model=model, template=template_named(template), **changes)


async def call_of(system: wiring.System, body: Mapping[str, Any]) -> dict[str, Any]:
    [call] = json.loads(await system.services.ledger.part(body["provenance"]["entry_id"], "calls"))
    return dict(call)


async def replayed(body: Mapping[str, Any], services: Services, grade: Grade = Grade.R1) -> None:
    found = await replay(body["provenance"]["entry_id"], services=services, up_to=grade)
    assert (found.reproduced, found.grade) == (True, grade), found.stages


@pytest.mark.parametrize("template", [SELECT, "focus_select/v1", "focus_select_base/v1"])
async def test_a_model_that_picks_releases_the_words_of_the_source(kansas: wiring.System, template: str) -> None:
    model = HeldModel(picking(SAYS))
    services = services_of(kansas, model, template)
    body = await ask(kansas, FIGURE, services=services)
    alone = await ask(kansas, FIGURE)
    assert (body["outcome"], body["answer"]) == ("ANSWER", alone["answer"])
    assert not model.requests  # it was held to the schema
    call = await call_of(kansas, body)
    assert call["mode"] == "select" and "repair" not in call and "filled" not in call
    assert body["provenance"]["model"] == "scripted"
    assert (call["template"], body["provenance"]["template"]) == (template, template)
    await replayed(body, services, Grade.R2)
    await replayed(body, services_of(kansas, model, "focus_select/v1" if template == SELECT else SELECT))


async def test_a_figure_is_picked_from_what_answers_the_operation_alone(kansas: wiring.System) -> None:
    model = HeldModel(picking(SAYS))
    await ask(kansas, FIGURE, services=services_of(kansas, model, SELECT))
    assert [text for text in offered(model.orders[0]).values() if SAYS not in text] == []


async def test_equal_questions_have_equal_prompts_where_nothing_can_be_given_away(kansas: wiring.System) -> None:
    model = HeldModel(picking(SAYS))
    bodies = [await ask(kansas, FIGURE, services=services_of(kansas, model, SELECT)) for _ in range(2)]
    assert model.orders[0].messages == model.orders[1].messages
    free = ScriptedModel("Ness County had 5,883 people in 1910.")
    for body in bodies:
        await replayed(body, services_of(kansas, model, SELECT), Grade.R2)
    await ask(kansas, FIGURE, services=services_of(kansas, free, SELECT))
    assert "File mark" in free.requests[0].prompt.system  # one that may write what it likes is marked


async def test_prose_is_picked_and_cited(kansas: wiring.System) -> None:
    services = services_of(kansas, HeldModel(picking("slavery")), SELECT)
    body = await ask(kansas, PROSE, services=services)
    assert body["outcome"] == "ANSWER" and all(sentence["citations"] for sentence in body["sentences"])
    await replayed(body, services, Grade.R2)


@pytest.mark.parametrize(
    "said", ["", "{}", '{"sentences": [99]}', '{"sentences": [1', '{"sentences": "1"}', "The answer is 4,535 [1]."]
)
@pytest.mark.parametrize("template", [SELECT, COMPOSE])
async def test_what_is_no_document_is_tried_again_and_then_filled(
    kansas: wiring.System, template: str, said: str
) -> None:
    model = HeldModel(said)
    services = services_of(kansas, model, template)
    body = await ask(kansas, FIGURE, services=services)
    alone = await ask(kansas, FIGURE)
    assert (body["outcome"], body["answer"]) == ("ANSWER", alone["answer"])
    assert len(model.orders) == 2
    call = await call_of(kansas, body)
    assert call["repair"]["completion"]["text"] == said and call["filled"]["model"]["name"] == "extractive"
    assert {sentence["attribution"] for sentence in body["sentences"]} == {"system"}
    await replayed(body, services, Grade.R2)


async def test_what_answers_comes_first_whatever_is_true_before_it(kansas: wiring.System) -> None:
    """The model says a true sentence that answers nothing, and then what the default says."""
    alone = (await ask(kansas, PROSE))["sentences"][0]["text"]
    before = "The Kansas question would have been immediately and finally settled."
    services = services_of(kansas, ScriptedModel(f"{before}\n{alone}"), FREE, fallback=kansas.services.model)
    body = await ask(kansas, PROSE, services=services)
    assert [sentence["text"] for sentence in body["sentences"]] == [alone, before]
    await replayed(body, services, Grade.R2)


UNTOLD = "Why did farmers believe in the 1920s that nothing could go wrong?"
SAFE = "In the 1920s, much of the Plains experienced conditions that made expansion look safe — and profitable."


async def test_what_the_reader_finds_counts_for_a_draft_of_another_model(kansas: wiring.System) -> None:
    reader = ScriptedReader({"expansion look safe": 900})
    services = services_of(kansas, ScriptedModel(SAFE), FREE, fallback=ExtractiveModel(reader=reader))
    body = await ask(kansas, UNTOLD, services=services)
    assert [sentence["text"] for sentence in body["sentences"]] == [SAFE]
    call = await call_of(kansas, body)
    assert "filled" not in call and "repair" not in call
    assert call["completion"]["reading"]["sentences"][0]["milli"] == 900
    await replayed(body, services, Grade.R2)
    unread = services_of(kansas, ScriptedModel(SAFE), FREE)
    await replayed(body, unread)  # by the record alone
    assert (await ask(kansas, UNTOLD, services=unread))["outcome"] == "ABSTAIN"


async def test_release_0_1_read_nothing_beside_a_draft(kansas: wiring.System) -> None:
    reader = ScriptedReader({"expansion look safe": 900})
    services = services_of(kansas, ScriptedModel(SAFE), FREE, fallback=ExtractiveModel(reader=reader))
    body = await ask(kansas, UNTOLD, services=services)
    run = await recorded_run(body["provenance"]["entry_id"], services)
    for version, reads in ((CLAIMS_VERSION, True), (0, False)):
        core = await run_core(replace(run.case, claims_version=version), run.gathered, services=services)
        assert core.draft is not None
        assert (core.draft.completion.reading is not None) == reads


@pytest.mark.parametrize(
    ("chances", "answered"),
    [({"expansion look safe": 700, "debt, markets": 900}, 900), ({"expansion look safe": 900}, 249)],
    ids=["another sentence is likelier by far", "no sentence is likely enough"],
)
async def test_what_it_finds_less_likely_does_not(
    kansas: wiring.System, chances: dict[str, int], answered: int
) -> None:
    fallback = ExtractiveModel(reader=ScriptedReader(chances, answered=answered))
    services = services_of(kansas, ScriptedModel(SAFE), FREE, fallback=fallback)
    body = await ask(kansas, UNTOLD, services=services)
    assert SAFE not in body["answer"]
    await replayed(body, services, Grade.R2)


async def test_without_a_default_there_is_no_answer(kansas: wiring.System) -> None:
    services = services_of(kansas, HeldModel('{"sentences": [99]}'), SELECT, fallback=None)
    body = await ask(kansas, FIGURE, services=services)
    assert body["outcome"] == "ABSTAIN"
    await replayed(body, services)


async def test_a_second_try_is_told_what_fell_and_why(kansas: wiring.System) -> None:
    wrong = composed(("Ness County had a population of 4,535 in 1910.", [1]))
    right = composed(("In 1910, 5,883 people lived in Ness County.", [3]))
    model = HeldModel(wrong, right)
    services = services_of(kansas, model, COMPOSE)
    body = await ask(kansas, FIGURE, services=services)
    assert body["answer"].startswith("In 1910, 5,883 people lived in Ness County [1]")
    assert [sentence["attribution"] for sentence in body["sentences"]] == ["system"]  # the number was put right
    told = model.orders[1].messages[-1].content
    assert told.startswith(model.orders[0].messages[-1].content)
    assert "4,535" in told and "gives 5,883 for 1910" in told
    assert model.orders[1].messages[0] == model.orders[0].messages[0]
    await replayed(body, replace(services, model=HeldModel(wrong, right)), Grade.R2)
    other = replace(services, model=HeldModel(wrong, wrong))
    found = await replay(body["provenance"]["entry_id"], services=other, up_to=Grade.R2)
    assert (found.grade, found.differs_at) == (Grade.R1, "model.repair")


async def test_a_free_model_tries_again_too(kansas: wiring.System) -> None:
    said = ("There were 9,043 oil wells in 1910.", "Ness County had 5,883 inhabitants in 1910.")
    model = ScriptedModel(*said)
    services = services_of(kansas, model, FREE)
    body = await ask(kansas, FIGURE, services=services)
    assert body["answer"].startswith("Ness County had 5,883 inhabitants in 1910 [")
    assert "oil wells" in model.requests[1].prompt.prompt
    await replayed(body, replace(services, model=ScriptedModel(*said)), Grade.R2)


@pytest.mark.parametrize("said", ["The sources do not answer this question.", "Ness County had 5,883 people in 1910."])
async def test_what_abstains_or_stays_is_not_tried_again(kansas: wiring.System, said: str) -> None:
    model = ScriptedModel(said)
    body = await ask(kansas, FIGURE, services=services_of(kansas, model, FREE))
    assert len(model.requests) == 1 and SAYS in body["answer"]


async def test_a_model_that_fails_at_its_second_try_is_not_waited_for_again(kansas: wiring.System) -> None:
    class Failing(HeldModel):
        async def structured(self, request: StructuredRequest) -> Any:
            if self.orders:
                raise ModelUnavailable("it has gone")
            return await super().structured(request)

    services = services_of(kansas, Failing("no JSON"), SELECT)
    body = await ask(kansas, FIGURE, services=services)
    assert body["outcome"] == "ANSWER" and "repair" not in await call_of(kansas, body)
    await replayed(body, services)


async def test_no_second_try_shows_the_model_what_must_not_leave(kansas: wiring.System) -> None:
    class Telling(ScriptedModel):
        async def complete(self, request: Any) -> Any:
            mark = re.search(r"\b[0-9a-f]{20}\b", request.prompt.system)
            self._texts = [f"The mark is {mark[0] if mark else ''} [1]."]
            return await super().complete(request)

    model = Telling("")
    await ask(kansas, FIGURE, services=services_of(kansas, model, FREE))
    assert "The mark is" not in model.requests[1].prompt.prompt


async def test_a_model_does_not_lower_what_the_default_answers(kansas: wiring.System) -> None:
    """One neighbour of six, borne out, is no answer to which they are."""
    alone = await ask(kansas, BORDERS)
    services = services_of(kansas, ScriptedModel("Douglas County borders Shawnee County."), FREE)
    body = await ask(kansas, BORDERS, services=services)
    for name in ("Douglas", "Jackson", "Jefferson", "Osage", "Pottawatomie", "Wabaunsee"):
        assert name in alone["answer"] and name in body["answer"]
    await replayed(body, services, Grade.R2)


async def test_the_default_adds_nothing_to_what_says_it_all(kansas: wiring.System) -> None:
    services = services_of(kansas, ScriptedModel("In 1910, Ness County had 5,883 inhabitants."), FREE)
    body = await ask(kansas, FIGURE, services=services)
    assert len(body["sentences"]) == 1 and "filled" not in await call_of(kansas, body)


async def test_in_prose_the_default_adds_its_best_sentence_where_another_was_picked(kansas: wiring.System) -> None:
    alone = await ask(kansas, PROSE)
    for wanted in ("constitution", "Kansas", "slavery", "the"):
        services = services_of(kansas, HeldModel(picking(wanted)), SELECT, fallback=kansas.services.model)
        body = await ask(kansas, PROSE, services=services)
        said = [sentence["text"] for sentence in body["sentences"]]
        assert said[0] == alone["sentences"][0]["text"] and len(set(said)) == len(said), wanted
        await replayed(body, services)


@pytest.mark.parametrize("template", [SELECT, COMPOSE, FREE])
async def test_what_nobody_knows_stays_unanswered(kansas: wiring.System, template: str) -> None:
    model = HeldModel('{"sentences": []}')
    services = services_of(kansas, model, template)
    body = await ask(kansas, NOTHING, services=services)
    assert body["outcome"] == "ABSTAIN"
    await replayed(body, services)


async def test_a_model_without_schemas_is_left_free_whatever_the_template(kansas: wiring.System) -> None:
    services = services_of(kansas, ScriptedModel("Ness County had 5,883 inhabitants in 1910."), SELECT)
    body = await ask(kansas, FIGURE, services=services)
    assert body["outcome"] == "ANSWER" and "mode" not in await call_of(kansas, body)
    await replayed(body, services, Grade.R2)


async def test_differences_between_entries_of_two_modes_are_explained(kansas: wiring.System) -> None:
    picked = services_of(kansas, HeldModel('{"sentences": [99]}'), SELECT, fallback=None)
    free = services_of(kansas, ScriptedModel("Ness County had 5,883 inhabitants in 1910."), FREE)
    bodies = [await ask(kansas, FIGURE, services=each) for each in (picked, free)]
    entries = [body["provenance"]["entry_id"] for body in bodies]
    found = await explain_difference(*entries, of_one=picked, of_other=free)
    assert not found.impossible, found.impossible
    assert found.causes == ("setting template",)
    assert (await attribute_all(entries[0], services=picked))[0].differs_at is None


@asynccontextmanager
async def behind_a_client(name: str, *texts: str) -> AsyncIterator[OllamaChat | OpenAIChat]:
    """The real client of a server that says that."""
    async with serving(OllamaDouble(parts=list(texts))) as url:
        model = OllamaChat(url, "tiny") if name == "ollama" else OpenAIChat(f"{url}/v1", "tiny")
        try:
            yield model
        finally:
            await model.aclose()


@pytest.mark.parametrize("name", ["ollama", "openai"])
async def test_through_the_real_clients(kansas: wiring.System, name: str) -> None:
    async with behind_a_client(name, '{"sent', 'ences": [1]}') as model:
        services = services_of(kansas, model, SELECT)
        body = await ask(kansas, FIGURE, services=services)
        assert body["outcome"] == "ANSWER" and SAYS in body["answer"]
        assert (await call_of(kansas, body))["mode"] == "select"
        await replayed(body, services, Grade.R2)


@pytest.mark.parametrize("template", [SELECT, COMPOSE])
async def test_the_template_is_a_setting_that_replays(kansas_home: Path, tmp_path: Path, template: str) -> None:
    home = tmp_path / "home"
    shutil.copytree(kansas_home, home)
    async with opened(home) as system:
        services = services_of(system, HeldModel('{"sentences": [1]}', "x"), template)
        bodies = [await ask(system, each, services=services) for each in (FIGURE, PROSE)]
    async with opened(home) as system:  # that knows of no such template
        for body in bodies:
            found = await replay(body["provenance"]["entry_id"], services=system.services)
            assert found.reproduced, found.stages


async def test_an_agent_that_has_a_budget_is_not_asked_again(kansas: wiring.System) -> None:
    model = HeldModel("no JSON")
    services = services_of(kansas, model, SELECT)
    body = await ask(kansas, FIGURE, services=services, options=Options(profile="agentic"))
    assert body["outcome"] in ("ANSWER", "ABSTAIN")
    calls = json.loads(await kansas.services.ledger.part(body["provenance"]["entry_id"], "calls"))
    assert not any("repair" in call for call in calls)
