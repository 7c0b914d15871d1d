"""Drafts through the whole product: what a model turns is not released, what it leaves out is put right, what it spoils
is filled in, and all of it replays."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ai.model import Completion
from ai.models.chat_model import ChatRequest
from ai.models.extractive import ExtractiveModel
from ai.replay.replay import replay
from api import wiring
from api.errors import SettingsInvalid
from api.home.configuration import load
from tests.fakes_ai import ScriptedModel
from tests.harness import ask, with_services

QUESTION = "What was the population of Ness County in 1910?"
RIGHT = "The population of Ness County in 1910 was 5,883."


class Citing(ScriptedModel):
    """Writes its text after the sources are known: `{n}` is the number of the source that states the figure."""

    async def complete(self, request: ChatRequest) -> Completion:
        said = await super().complete(request)
        at = [s.index for s in request.prompt.sources if s.direct]
        return replace(said, text=said.text.replace("{n}", str(at[0])))


@pytest.mark.parametrize(
    "draft",
    [
        "There were 5,883 oil wells in Ness County in 1910 [{n}].",
        "Ness County had a population of 4,535 in 1910 [{n}].",
        "Ness County had a population of 4,535 in 1900 [1][2][3][4].",
        "Ness County did not have a population of 5,883 in 1910 [{n}].",
        "The counties are: [{n}]",
        "The sources do not answer this question, but Ness County had a population of 5,883 in 1910 [{n}].",
        "la la la la la la la la la la",
        "",
    ],
)
async def test_what_does_not_follow_is_not_released(kansas: wiring.System, draft: str) -> None:
    services = with_services(kansas, model=Citing(draft))
    body = await ask(kansas, QUESTION, services=services)
    assert body["outcome"] == "ABSTAIN", body["answer"]
    entry_id = body["provenance"]["entry_id"]
    assert (await replay(entry_id, services=services)).reproduced


@pytest.mark.parametrize(
    "draft", [RIGHT, f"{RIGHT[:-1]} [{{n}}].", f"{RIGHT[:-1]} [3].", f"Sure! {RIGHT} Anything else?"]
)
async def test_a_right_figure_is_released_with_the_number_of_its_row(kansas: wiring.System, draft: str) -> None:
    body = await ask(kansas, QUESTION, services=with_services(kansas, model=Citing(draft)))
    assert body["outcome"] == "ANSWER"
    [sentence] = body["sentences"]
    assert sentence["text"] == RIGHT
    [cited] = sentence["citations"]
    assert "5,883" in body["evidence"][cited["n"] - 1]["snippet"]
    assert {claim["verdict"] for claim in sentence["claims"]} == {"borne_out"}
    assert sentence["attribution"] == ("model" if "{n}" in draft else "system")


async def test_what_falls_is_on_the_record_with_its_reason(kansas: wiring.System) -> None:
    model = Citing("Ness County had a population of 4,535 in 1910 [{n}].")
    body = await ask(kansas, QUESTION, services=with_services(kansas, model=model))
    [call] = json.loads(await kansas.services.ledger.part(body["provenance"]["entry_id"], "calls"))
    [sentence] = call["sentences"]
    assert sentence["claims"][0]["verdict"] == "contradicted"
    assert "gives 5,883 for 1910; 4,535 is Ness County, 1900" in sentence["claims"][0]["reason"]


async def test_a_true_sentence_beside_the_point_is_shown_as_related(kansas: wiring.System) -> None:
    class Beside(ScriptedModel):
        async def complete(self, request: ChatRequest) -> Completion:
            said = await super().complete(request)
            other = next(s for s in request.prompt.sources if not s.direct and s.statement)
            return replace(said, text=f"{other.statement} [{other.index}]")

    services = with_services(kansas, model=Beside(""))
    body = await ask(kansas, QUESTION, services=services)
    assert body["outcome"] == "ABSTAIN"
    assert body["related"][0]["citations"][0]["href"].startswith("/api/v1/evidence/")
    assert (await replay(body["provenance"]["entry_id"], services=services)).reproduced


@pytest.mark.parametrize(
    "draft", ["", "la la la", "There were 9,043 oil wells [1].", "The sources do not answer this question."]
)
async def test_the_default_model_fills_in_where_nothing_is_left(kansas: wiring.System, draft: str) -> None:
    alone = await ask(kansas, QUESTION)
    services = with_services(kansas, model=ScriptedModel(draft), fallback=ExtractiveModel())
    body = await ask(kansas, QUESTION, services=services)
    assert (body["outcome"], body["answer"]) == ("ANSWER", alone["answer"])
    assert body["provenance"]["model"] == "extractive"
    assert {sentence["attribution"] for sentence in body["sentences"]} == {"system"}
    assert (await replay(body["provenance"]["entry_id"], services=services)).reproduced


async def test_the_mark_of_a_prompt_is_fresh_and_does_not_leave(kansas: wiring.System) -> None:
    model = Citing(f"{RIGHT[:-1]} [{{n}}].")
    services = with_services(kansas, model=model)
    bodies = [await ask(kansas, QUESTION, services=services) for _ in range(2)]
    systems = [request.prompt.system for request in model.requests]
    assert systems[0] != systems[1]
    marks = [
        json.loads(await kansas.services.ledger.part(b["provenance"]["entry_id"], "replay"))["canary"] for b in bodies
    ]
    assert marks[0] in systems[0].splitlines()[0] and marks[1] in systems[1].splitlines()[0]
    told = ScriptedModel(f"{RIGHT[:-1]} {marks[0]} [1].")
    assert kansas.services.canary not in "".join(systems)
    body = await ask(kansas, QUESTION, services=with_services(kansas, model=told))
    assert body["outcome"] == "ABSTAIN"


async def test_the_template_is_a_setting_that_replays(kansas_home: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(kansas_home, home)
    async with wiring.open_system(load({"EXHIBIT_PROMPT__TEMPLATE": "focus_mode/v1"}, home=home)) as system:
        model = Citing(f"{RIGHT[:-1]} [{{n}}].")
        body = await ask(system, QUESTION, services=with_services(system, model=model))
        assert model.requests[0].prompt.template == "focus_mode/v1"
    async with wiring.open_system(load({}, home=home)) as system:
        assert system.services.template.name == "focus_mode/v2"
        done = await replay(body["provenance"]["entry_id"], services=system.services)
        assert done.reproduced


async def test_a_template_that_nobody_has_is_refused_at_once(kansas_home: Path) -> None:
    with pytest.raises(SettingsInvalid, match="template"):
        async with wiring.open_system(load({"EXHIBIT_PROMPT__TEMPLATE": "focus_mode/v99"}, home=kansas_home)):
            pass
