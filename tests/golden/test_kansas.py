"""The sample corpus answers what it can answer, cites the exact place, and abstains from the rest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from ai.model import MapContext
from api import wiring
from retrieval.scope import Scope
from retrieval.spatial.computing.compute import recompute
from tests.harness import ask

ANSWERED = {
    "What was the population of Shawnee County in 1930?": ("observation", ["85,200"]),
    "How many people lived in Topeka in 1890?": ("observation", ["31,007"]),
    "Which counties border Shawnee County?": (
        "computed",
        ["Douglas", "Jackson", "Jefferson", "Osage", "Pottawatomie", "Wabaunsee"],
    ),
    "Which towns are within 50 km of Topeka?": ("computed", ["Lawrence"]),
    "What was the largest county in Kansas in 1930?": ("computed", ["Wyandotte", "141,211"]),
    "What was the smallest county in Kansas in 1900?": ("computed", ["Morton", "304"]),
    "How did the population of Sedgwick County change between 1900 and 1950?": (
        "computed",
        ["44,037", "222,290", "178,253"],
    ),
    "In which county is Topeka?": ("computed", ["Shawnee"]),
    "Which was larger in 1930, Shawnee County or Sedgwick County?": ("computed", ["Sedgwick", "136,330", "85,200"]),
    "What treaties did the Kansa sign?": ("computed", ["Stat."]),
    "Which treaties were signed at Santa Fe?": ("computed", ["Apache"]),
    "Which nations signed treaties in 1854?": ("computed", ["1854"]),
    "Which treaty was signed on May 10, 1854?": ("computed", ["Shawnee", "May 10, 1854"]),
    "What happened in Kansas in 1850?": ("passage", ["1850"]),
    "When was Black Sunday?": ("computed", ["April 14, 1935"]),
    "Where was the steamer Water Witch fired upon?": ("passage", ["Parana River"]),
}

ABSTAINED = (
    "What was the population of Shawnee County in 1870?",
    "What was the population of Atlantis County in 1930?",
    "Which counties border Atlantis County?",
    "What was the population of Shawnee County, Oklahoma in 1930?",
    "What was the population of Topeka, Texas in 1900?",
    "Which treaties were signed on May 11, 1854?",
    "Who won the football championship in Kansas in 2019?",
    "What is the boiling point of mercury?",
    "What was the population of Shawnee County in 2020?",
)


@pytest.mark.parametrize("question", ANSWERED)
async def test_answers(kansas: wiring.System, question: str) -> None:
    kind, words = ANSWERED[question]
    body = await ask(kansas, question)
    assert body["outcome"] == "ANSWER", body["limitations"]
    for word in words:
        assert word in body["answer"], body["answer"]
    assert kind in {citation["kind"] for citation in body["citations"].values()}
    await check_citations(kansas, body)


@pytest.mark.parametrize("question", ABSTAINED)
async def test_abstains(kansas: wiring.System, question: str) -> None:
    body = await ask(kansas, question)
    assert body["outcome"] == "ABSTAIN", body["answer"]
    assert body["citations"] == {}
    assert body["evidence"] == []
    assert [s["verdict"] for s in body["sentences"]] == ["catalogue"]


async def test_a_missing_year_says_what_is_covered_and_offers_no_other_place(kansas: wiring.System) -> None:
    body = await ask(kansas, "What was the population of Shawnee County in 1870?")
    covered = next(each["message"] for each in body["limitations"] if each["code"] == "NO_OBSERVATION")
    assert "1900" in covered
    assert "1950" in covered
    assert "5,790" not in str(body)
    assert "5790" not in str(body)
    assert "Topeka" not in str(body)


async def test_a_figure_without_a_place_is_that_of_the_places_on_the_map(kansas: wiring.System) -> None:
    question, around_topeka = "What was the population here in 1930?", (-96.0, 38.9, -95.5, 39.2)
    body = await ask(kansas, question, context=MapContext(bbox=around_topeka))
    assert body["outcome"] == "ANSWER"
    assert {"64,120", "85,200"} <= set(re.findall(r"[\d,]+\d", body["answer"]))
    assert "Morton" not in body["answer"]
    at_sea = await ask(kansas, question, context=MapContext(bbox=(-60.0, 10.0, -59.0, 11.0)))
    assert at_sea["outcome"] == "ABSTAIN"


async def test_an_observation_is_located_by_row_and_column(kansas: wiring.System) -> None:
    body = await ask(kansas, "What was the population of Shawnee County in 1930?")
    (quote,) = body["sentences"][0]["citations"]
    assert (quote["locator"]["row"], quote["locator"]["column"]) == (89, "1930")
    citation = body["citations"][str(quote["n"])]
    assert citation["channel"] == "postgis"
    assert citation["href"].endswith("?row=89&col=1930")
    assert body["answer_markdown"].endswith(f"【{quote['n']}†{citation['document_id']}#row=89&col=1930】.")


async def check_citations(system: wiring.System, body: Mapping[str, Any]) -> None:
    """Every quote equals the stored slice at its locator; every computed item comes out again from its inputs."""
    classes = await system.services.store.classes("default")
    everything = Scope.of("default", classes)
    for sentence in body["sentences"]:
        for quote in sentence["citations"]:
            citation = body["citations"][str(quote["n"])]
            document_id = citation["document_id"]
            if citation["kind"] == "computed":
                await check_computed(system, citation, everything)
                row = quote["chunk_id"]
                assert row in {each["chunk_id"] for each in citation["computed"]["inputs"]}
                found = await system.services.store.fetch([row], scope=everything)
                document_id = found[row].record.document_id
            document = await system.services.store.document(document_id, scope=everything)
            at = quote["locator"]
            assert document.text[at["start_char"] : at["end_char"]] == quote["quote"]
            assert document.text.encode()[at["start_byte"] : at["end_byte"]] == quote["quote"].encode()
            assert quote["quote"]


async def check_computed(system: wiring.System, citation: Mapping[str, Any], scope: Scope) -> None:
    computed = citation["computed"]
    ids = [each["chunk_id"] for each in computed["inputs"]]
    records = await system.services.store.fetch(ids, scope=scope)
    again = recompute(computed["operation"], computed["parameters"], [records[i].record for i in ids])
    assert again.record_id == citation["chunk_id"]
    assert again.input_digest == computed["input_digest"]
    assert dict(again.result) == computed["result"]
    assert again.statement == computed["statement"]


async def test_a_computed_answer_links_to_its_computation_and_quotes_the_row_that_it_names(
    kansas: wiring.System,
) -> None:
    body = await ask(kansas, "What was the largest county in Kansas in 1930?")
    ((n, citation),) = body["citations"].items()
    assert citation["href"] == f"/api/v1/computations/{body['provenance']['entry_id']}/{n}"
    quoted = body["sentences"][0]["citations"]
    assert quoted[0]["href"] == citation["computed"]["inputs"][0]["href"]
    assert quoted[0]["href"].endswith("?row=105&col=1930")
    assert quoted[0]["quote"].startswith("20209,Wyandotte County,")
    assert body["answer_markdown"].endswith(f"【{n}†{citation['chunk_id']}】.")
    await check_citations(kansas, body)
