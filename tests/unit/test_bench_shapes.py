"""The tagged sample of `exhibit bench shapes`: every tag of the data is in use, and tables agree with what they look up."""

from __future__ import annotations

import tomllib
from pathlib import Path

from api.measure.bench.decisions.shapes import ShapeFigures, shape_goals, tagged_sample
from api.measure.demonstration import sample_corpus
from policy.bundles.bundle import load_bundle


def test_every_tag_is_in_use_and_tables_agree_with_what_they_look_up(tmp_path: Path) -> None:
    bundle = load_bundle()
    manifest = tagged_sample(sample_corpus(), tmp_path / "tagged", bundle)
    sources = tomllib.loads(manifest.read_text("utf-8"))["source"]
    tags = {source["source_id"]: source.get("handling", []) for source in sources}
    assert {tag for each in tags.values() for tag in each} == bundle.data.handling.keys()
    assert [] in tags.values()
    assert tags["city-population"] == tags["county-population"]


def test_a_figure_past_its_bound_is_missed() -> None:
    held = ShapeFigures(100, 130, 10.0, 12.0, 5, 8.0, 30.0, 13.0)
    assert all(goal.met for goal in shape_goals(held))
    missed = ShapeFigures(100, 131, 10.0, 12.1, 5, 8.0, 30.1, 13.0)
    assert not any(goal.met for goal in shape_goals(missed))
