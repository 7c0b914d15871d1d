"""Trained models that really speak, on a real Ollama: they pick from numbered sentences, whatever they pick no false
figure leaves, and no answer is lower than that of the default. `trained_run.py` asks more questions."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from ai.replay.replay import replay
from api import wiring
from api.home.configuration import load
from tests.harness import KANSAS, ask, ingest, opened
from tests.services.ollama_server import Models
from tests.services.trained_model import MODELS, make_trained, prepared
from tests.services.trained_run import compared, figures, passed, prose, told

pytestmark = pytest.mark.services
ASKED = {
    "What was the population of Ness County in 1910?": "5,883",
    "Which was larger in 1930, Shawnee County or Sedgwick County?": "136,330",
    "What was the Lecompton constitution?": "constitution",
    "What was the population of Shawnee County in 1870?": "",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("trained") / "home"
    asyncio.run(ingest(home, manifest=KANSAS))
    return home


def variables(url: str, model: str, template: str) -> dict[str, str]:
    served = {"FOCUS_MODE_MODEL": model, "OLLAMA_API_URL": url, "EXHIBIT_MODELS__DEADLINE_MS": "120000"}
    return served | {"EXHIBIT_PROMPT__TEMPLATE": template, "EXHIBIT_MODELS__THREADS": "1"}


@pytest.mark.parametrize("key", sorted(MODELS))
async def test_it_picks_and_nothing_false_leaves(home: Path, ollama: Models, key: str) -> None:
    model = await asyncio.to_thread(make_trained, ollama.url, MODELS[key], prepared(MODELS[key]))
    async with opened(home) as system:
        alone = {question: await ask(system, question) for question in ASKED}
    async with wiring.open_system(load(variables(ollama.url, model, "focus_select"), home=home)) as system:
        for question, says in ASKED.items():
            body = await ask(system, question)
            default = [sentence["text"] for sentence in alone[question]["sentences"]]
            said = [sentence["text"] for sentence in body["sentences"]]
            assert body["outcome"] == ("ANSWER" if says else "ABSTAIN"), (question, said)
            assert says in body["answer"] and set(default[:1]) <= set(said), (question, said)
            claims = [claim["verdict"] for sentence in body["sentences"] for claim in sentence.get("claims") or ()]
            assert set(claims) <= {"borne_out"}, question
            entry = body["provenance"]["entry_id"]
            assert (await replay(entry, services=system.services)).reproduced, question
            calls = json.loads(await system.services.ledger.part(entry, "calls") or b"[]")
            assert all(call["mode"] == "select" and call["completion"]["model"]["name"] == model for call in calls)


@pytest.mark.parametrize("key", sorted(MODELS))
async def test_of_questions_with_a_known_answer_none_is_lowered(tmp_path: Path, ollama: Models, key: str) -> None:
    model = await asyncio.to_thread(make_trained, ollama.url, MODELS[key], prepared(MODELS[key]))
    asked = await figures(tmp_path / "figures")
    found = await compared(tmp_path / "figures", asked[::12], ollama.url, model, "focus_select")
    assert passed(found, figures=True), told(found)
    asked = await prose(tmp_path / "prose", "sample")
    found = await compared(tmp_path / "prose", asked[::10], ollama.url, model, "focus_select")
    assert passed(found, figures=False), told(found)
