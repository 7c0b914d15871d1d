"""Every citation of an answer says where it is, or why it does not; replay says the same again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ai.replay.comparison import Stage
from ai.replay.replay import Grade, replay
from tests.golden.test_hidden import QUESTIONS
from tests.harness import ask, ingest, opened


def cited(body: dict[str, Any]) -> list[dict[str, Any]]:
    return list(body["citations"].values())


async def test_every_citation_has_a_geometry_or_says_why_not(kansas_home: Path) -> None:
    async with opened(kansas_home) as system:
        answers = 0
        for question in QUESTIONS:
            body = await ask(system, question)
            answers += body["outcome"] == "ANSWER"
            for citation in cited(body):
                assert (citation["geometry"] is None) is (citation["no_geometry"] is not None), question
                assert (citation["bbox"] is None) is (citation["geometry"] is None), question
            assert ("bbox" in body) is (body["outcome"] == "ANSWER")
        assert answers >= 5


async def test_places_have_their_roles(kansas_home: Path) -> None:
    async with opened(kansas_home) as system:
        [figure] = cited(await ask(system, "What was the population of Shawnee County in 1930?"))
        assert [(p["name"], p["role"]) for p in figure["places"]] == [("Shawnee County", "subject")]
        assert figure["geometry"]["type"] in ("Polygon", "MultiPolygon")
        assert figure["places"][0]["layer"] == "counties"
        [border] = cited(await ask(system, "Which counties border Shawnee County?"))
        roles = {p["name"]: p["role"] for p in border["places"]}
        assert roles["Shawnee County"] == "subject"
        assert roles["Osage County"] == roles["Jackson County"] == "result"
        assert border["places"][0]["name"] == "Shawnee County"
        assert border["places_omitted"] == 0
        [largest] = cited(await ask(system, "What was the largest county in Kansas in 1930?"))
        assert [p["name"] for p in largest["places"] if p["role"] == "result"] == ["Wyandotte County"]
        assert len(largest["places"]) == 24
        assert largest["places_omitted"] > 0
        west, south, east, north = border["bbox"]
        inside = figure["bbox"]
        assert west <= inside[0] and south <= inside[1] and east >= inside[2] and north >= inside[3]


async def test_the_box_of_an_answer_holds_its_citations(kansas_home: Path) -> None:
    async with opened(kansas_home) as system:
        body = await ask(system, "Which towns are within 20 km of Topeka?")
        west, south, east, north = body["bbox"]
        for citation in cited(body):
            for place in citation["places"]:
                if place["bbox"] is not None:
                    assert west <= place["bbox"][0] and place["bbox"][2] <= east
                    assert south <= place["bbox"][1] and place["bbox"][3] <= north


async def test_replay_places_the_citations_again(kansas_home: Path) -> None:
    async with opened(kansas_home) as system:
        for question in QUESTIONS:
            body = await ask(system, question)
            report = await replay(body["provenance"]["entry_id"], services=system.services)
            assert report.grade is Grade.R1, [s for s in report.stages if isinstance(s, Stage) and not s.same]


OBSERVED = "name,1930\nFort Alder,12\nFort Birch,14\nFort Nowhere,16\n"
MANIFEST = """
[[collection]]
name = "maps"
title = "Maps"

[[source]]
path = "garrisons.csv"
source_id = "garrisons"
title = "Garrisons"
license = "CC0-1.0"
collection = "maps"
label = "public"

[source.table]
statement = "Garrison of {name}: {1930}."

[[source.table.entity]]
role = "place"
type = "fort"
id = "fort:{name|slug}"
name = "{name}"

[source.table.observation]
place = "place"
measure = "garrison"
unit = "soldiers"
statement = "{place} had a garrison of {value} in {year}."
"""
DRAWN = """
[[source]]
path = "{name}.geojson"
source_id = "{name}"
title = "{name}"
license = "CC0-1.0"
collection = "maps"
label = "{label}"
{access}
[source.features]
feature_id = "key"
statement = "{{name}} stood here."
time = "built"

[[source.features.entity]]
role = "place"
type = "fort"
id = "fort:{{name|slug}}"
name = "{{name}}"
"""


def feature(name: str, at: list[float], built: str) -> dict[str, Any]:
    return {
        "type": "Feature",
        "properties": {"key": f"{name} {built}", "name": name, "built": built},
        "geometry": {"type": "Point", "coordinates": at},
    }


def corpus(folder: Path, *, secrets: bool) -> Path:
    folder.mkdir()
    (folder / "garrisons.csv").write_text(OBSERVED, "utf-8")
    layers = {
        "forts": ([feature("Fort Alder", [-96.0, 39.0], "1930")], "public", ""),
        "mounds": (
            [feature("Fort Birch", [-95.12345, 38.54321], "1930")],
            "public",
            'handling = ["sensitive_location"]',
        ),
    }
    if secrets:
        hidden = [feature("Fort Alder", [10.0, 10.0], "1930"), feature("Fort Nowhere", [11.0, 11.0], "1930")]
        layers["a-secret"] = (hidden, "restricted", "")
    text = MANIFEST
    for name, (features, label, access) in layers.items():
        (folder / f"{name}.geojson").write_text(
            json.dumps({"type": "FeatureCollection", "features": features}), "utf-8"
        )
        text += DRAWN.format(name=name, label=label, access=access)
    (folder / "manifest.toml").write_text(text, "utf-8")
    return folder / "manifest.toml"


@pytest.mark.parametrize("secrets", [False, True])
async def test_a_place_is_drawn_as_far_as_the_asker_may_see_it(tmp_path: Path, secrets: bool) -> None:
    await ingest(tmp_path / "home", manifest=corpus(tmp_path / "corpus", secrets=secrets))
    found: dict[str, Any] = {}
    async with opened(tmp_path / "home") as system:
        for fort in ("Alder", "Birch", "Nowhere"):
            body = await ask(system, f"What was the garrison of Fort {fort} in 1930?")
            assert body["outcome"] == "ANSWER", body
            [found[fort]] = cited(body)
            report = await replay(body["provenance"]["entry_id"], services=system.services)
            assert report.grade is Grade.R1
        [precise] = cited(await ask(system, "What was the garrison of Fort Birch in 1930?", role="maintainer"))
    assert found["Alder"]["geometry"]["coordinates"] == [-96, 39]
    assert "38.54321" not in json.dumps(found["Birch"])
    assert found["Birch"]["geometry"]["type"] == "Point"
    assert precise["geometry"]["coordinates"] == [-95.12345, 38.54321]
    assert found["Nowhere"]["geometry"] is None
    assert found["Nowhere"]["no_geometry"]["code"] == "NO_GEOMETRY"
    assert "Fort Nowhere" in found["Nowhere"]["no_geometry"]["message"]
