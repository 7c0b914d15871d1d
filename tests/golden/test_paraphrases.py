"""Drafts in a model's own words, judged by a reader: through the whole product, recorded and replayed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ai.answer.core import run_core
from ai.case.case import Services
from ai.model import CLAIMS_VERSION
from ai.models.context import template_named
from ai.models.extractive import ExtractiveModel
from ai.replay.replay import Grade, recorded_run, replay
from ai.text.markdown import plain
from api import wiring
from tests.fakes_ai import ScriptedJudge, ScriptedModel, ScriptedReader
from tests.harness import ask, ingest, opened, with_services

UNTOLD = "Why did farmers believe in the 1920s that nothing could go wrong?"
SAID = "look safe"
OWN = "Conditions across a large part of the prairie made bigger farms seem a risk worth taking."
BORNE = {"seem a risk": (950, SAID)}


def services_of(system: wiring.System, judge: ScriptedJudge, *said: str, chances: Any = None) -> Services:
    fallback = ExtractiveModel(reader=ScriptedReader(chances or {SAID: 900}))
    model = ScriptedModel(*said or (OWN,))
    return with_services(
        system, model=model, template=template_named("focus_mode/v2"), fallback=fallback, judge=judge, repairs=False
    )


async def replayed(body: Any, services: Services, grade: Grade = Grade.R2) -> None:
    found = await replay(body["provenance"]["entry_id"], services=services, up_to=grade)
    assert (found.reproduced, found.grade) == (True, grade), found.stages


async def test_what_a_model_says_in_its_own_words_is_released(kansas: wiring.System) -> None:
    judge = ScriptedJudge(BORNE)
    services = services_of(kansas, judge)
    body = await ask(kansas, UNTOLD, services=services)
    [sentence] = body["sentences"]
    assert (sentence["text"], sentence["verdict"]) == (OWN, "supported")
    assert [(claim["kind"], claim["verdict"]) for claim in sentence["claims"]] == [("paraphrase", "judged")]
    [citation] = sentence["citations"]
    assert SAID in citation["quote"]
    [call] = json.loads(await kansas.services.ledger.part(body["provenance"]["entry_id"], "calls"))
    assert call["completion"]["judged"]["least_milli"] == 800
    assert {each["text"] for each in call["completion"]["judged"]["claims"]} == {OWN}
    await replayed(body, services)
    await replayed(body, replace(services, judge=None))  # by the record alone
    await replayed(body, replace(services, judge=ScriptedJudge({}, lack="gone")))


async def test_asked_again_it_tells_by_how_much_it_differs(kansas: wiring.System) -> None:
    services = services_of(kansas, ScriptedJudge(BORNE))
    body = await ask(kansas, UNTOLD, services=services)
    other = replace(services, judge=ScriptedJudge({"seem a risk": (930, SAID)}))
    found = await replay(body["provenance"]["entry_id"], services=other, up_to=Grade.R2)
    assert found.reproduced and any("differ by at most 20 thousandths" in stage.detail for stage in found.stages)


async def test_release_0_1_judged_nothing(kansas: wiring.System) -> None:
    services = services_of(kansas, ScriptedJudge(BORNE))
    body = await ask(kansas, UNTOLD, services=services)
    run = await recorded_run(body["provenance"]["entry_id"], services)
    for version, judged in ((CLAIMS_VERSION, True), (0, False)):
        core = await run_core(replace(run.case, claims_version=version), run.gathered, services=services)
        assert core.draft is not None
        assert (core.draft.completion.judged is not None) == judged


@pytest.mark.parametrize(
    "judge",
    [
        ScriptedJudge({"seem a risk": (799, SAID)}),
        ScriptedJudge({}),
        ScriptedJudge(BORNE, lack="it cannot be run here"),
    ],
    ids=["a chance too small", "none", "cannot be run"],
)
async def test_what_it_does_not_find_borne_out_falls(kansas: wiring.System, judge: ScriptedJudge) -> None:
    services = services_of(kansas, judge)
    body = await ask(kansas, UNTOLD, services=services)
    assert OWN not in body["answer"]
    await replayed(body, services)


@pytest.mark.parametrize(
    "said",
    [
        "Conditions across a large part of Nebraska made bigger farms seem a risk worth taking.",
        "Conditions across 38 counties of the prairie made bigger farms seem a risk worth taking.",
        "In 1931 conditions across the prairie made bigger farms seem a risk worth taking.",
        "It made bigger farms seem a risk worth taking.",
        "Conditions across a large part of the prairie made bigger farms seem a risk worth taking [9].",
    ],
    ids=["a name of no source", "a number of none", "a year of none", "it leans on nothing", "a source of none"],
)
async def test_however_likely_it_finds_it(kansas: wiring.System, said: str) -> None:
    services = services_of(kansas, ScriptedJudge(BORNE), said)
    body = await ask(kansas, UNTOLD, services=services)
    assert "seem a risk" not in body["answer"]
    await replayed(body, services)


async def test_what_the_words_contradict_is_not_asked_about(kansas: wiring.System) -> None:
    said = "In the 1920s, much of the Plains never experienced conditions that made expansion look safe and profitable."
    judge = ScriptedJudge({"experienced": (999, SAID)})
    services = services_of(kansas, judge, said)
    body = await ask(kansas, UNTOLD, services=services)
    assert "never experienced" not in body["answer"] and not judge.asked
    await replayed(body, services)


async def test_a_true_sentence_beside_the_point_does_not_answer(kansas: wiring.System) -> None:
    services = services_of(kansas, ScriptedJudge(BORNE), chances={SAID: 40, "debt, markets": 900})
    body = await ask(kansas, UNTOLD, services=services)
    assert OWN not in body["answer"]
    await replayed(body, services)


async def test_figures_are_left_to_the_rows(kansas: wiring.System) -> None:
    judge = ScriptedJudge({"people": (999, "")})
    services = services_of(kansas, judge, "Ness County was home to six thousand people in 1910.")
    body = await ask(kansas, "What was the population of Ness County in 1910?", services=services)
    assert "six thousand" not in body["answer"] and not judge.asked
    await replayed(body, services)


@pytest.mark.parametrize(
    ("label", "tolerated"), [("public", True), ("internal", True), ("confidential", False), ("restricted", False)]
)
async def test_what_is_sensitive_is_said_in_its_own_words(tmp_path: Path, label: str, tolerated: bool) -> None:
    text = tmp_path / "bridge.txt"
    text.write_text(
        "The bridge over the Orla.\n\nThe council closed the old bridge because frost had cracked its piers. "
        "A ferry carried the mail until the spring of the next year.\n"
    )
    await ingest(tmp_path / "home", paths=[text], label=label)
    judge = ScriptedJudge({"unsafe": (950, "frost had cracked")})
    said = "The old bridge was shut after the cold had made it unsafe."
    async with opened(tmp_path / "home") as system:
        services = services_of(system, judge, said, chances={"frost had cracked": 900})
        body = await ask(system, "Why did the council close the old bridge?", role="admin", services=services)
        assert body["outcome"] == "ANSWER"
        assert ("made it unsafe" in body["answer"], bool(judge.asked)) == (tolerated, tolerated)
        assert ("because frost had cracked its piers" in body["answer"]) is not tolerated
        await replayed(body, services)


async def test_it_is_shown_nothing_but_the_passages_of_the_prompt(kansas: wiring.System) -> None:
    judge = ScriptedJudge(BORNE)
    services = services_of(kansas, judge)
    await ask(kansas, UNTOLD, services=services)
    [request] = services.model.requests  # type: ignore[attr-defined]
    words = {word for source in request.prompt.sources for word in plain(source.text).split()}
    assert judge.asked
    for _, told in judge.asked:
        assert told.title in {source.title for source in request.prompt.sources}
        assert words.issuperset(" ".join(told.sentences).split())
