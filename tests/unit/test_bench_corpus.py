"""The corpus and the questions of `exhibit bench`."""

from __future__ import annotations

import tomllib
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli.bench import app
from api.measure.bench.workload.corpus import (
    ADMITTED_SHARE_MILLI,
    ASKER_TENANT,
    AUDIENCES,
    PASSAGE_WORDS,
    admitted_passages,
    counts,
    passage,
    write_corpus,
)
from api.measure.bench.workload.questions import KINDS, questions
from api.measure.bench.workload.texts import Texts, read_texts
from retrieval.ingest.manifest import read_manifest

SAMPLE = Path(__file__).parents[2] / "examples" / "kansas"


@pytest.fixture(scope="module")
def texts() -> Texts:
    return read_texts(SAMPLE)


def written(folder: Path, texts: Texts, seed: int = 7) -> dict[str, bytes]:
    write_corpus(folder, sample=SAMPLE, texts=texts, total=1_000, seed=seed)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, texts: Texts) -> None:
    first = written(tmp_path / "a", texts)
    assert first == written(tmp_path / "b", texts)
    other = written(tmp_path / "c", texts, seed=8)
    assert {name for name in first if first[name] == other[name]} == {
        *("cities.csv", "counties.geojson", "county-population.csv", "treaties.tsv"),
        *(name for name in first if name.endswith(".toml")),
    }


def test_shares_add_up_and_are_the_stated_ones() -> None:
    assert sum(audience.share_milli for audience in AUDIENCES) == 1000
    assert len({audience.tenant for audience in AUDIENCES}) == 5
    assert {audience.label for audience in AUDIENCES} == {"public", "internal", "confidential"}
    assert len({audience.group for audience in AUDIENCES if audience.group}) == 2
    for total in (1_000, 1_001, 99_999):
        shares = counts(total)
        assert sum(shares.values()) == total
        admitted = sum(count for audience, count in shares.items() if audience.admitted)
        assert admitted == pytest.approx(total * ADMITTED_SHARE_MILLI / 1000, abs=len(AUDIENCES))


def test_the_admitted_audiences_are_those_of_one_tenant_without_a_higher_label_or_foreign_group() -> None:
    admitted = {(a.tenant, a.label, a.group) for a in AUDIENCES if a.admitted}
    assert admitted == {
        (ASKER_TENANT, "public", None),
        (ASKER_TENANT, "internal", None),
        (ASKER_TENANT, "internal", "surveyors"),
    }


def test_every_file_is_in_one_manifest_with_its_access_facts(tmp_path: Path, texts: Texts) -> None:
    manifests = write_corpus(tmp_path / "corpus", sample=SAMPLE, texts=texts, total=1_000, seed=7)
    assert set(manifests) == {audience.tenant for audience in AUDIENCES}
    sources = [(tenant, source) for tenant, path in manifests.items() for source in read_manifest(path).sources]
    files = {path.name for path in (tmp_path / "corpus").iterdir() if path.suffix != ".toml"}
    assert Counter(source.path.name for _, source in sources) == Counter(files)
    for tenant, source in sources:
        if source.table is None:
            audience = next(a for a in AUDIENCES if source.source_id.startswith(a.name + "-0"))
            assert (tenant, source.access.label) == (audience.tenant, audience.label)
            assert source.access.groups == ((audience.group,) if audience.group else ())
        else:
            assert (tenant, source.access.label) == (ASKER_TENANT, "public")


def test_a_passage_tells_what_it_says_it_tells_and_has_the_length_of_a_chunk(texts: Texts) -> None:
    for number in range(200):
        made = passage(texts, AUDIENCES[0], number, 7)
        assert made.text.startswith(f"In {made.year} {made.person} {made.deed} at {made.town} in {made.county}.")
        assert PASSAGE_WORDS <= len(made.text.split()) < PASSAGE_WORDS + 60
        assert "\n" not in made.text


def test_passages_vary(texts: Texts) -> None:
    made = [passage(texts, AUDIENCES[0], number, 7) for number in range(300)]
    assert len({m.text for m in made}) == 300
    assert len({m.person for m in made}) > 200
    assert len({m.town for m in made}) > 60
    assert len({m.year for m in made}) > 80
    assert len({word for m in made for word in m.text.lower().split()}) > 3_000


def test_a_larger_corpus_holds_the_smaller_one(texts: Texts) -> None:
    small = {m.text for m in admitted_passages(texts, 1_000, 7)}
    assert small <= {m.text for m in admitted_passages(texts, 1_500, 7)}


def test_questions_are_the_same_for_the_same_seed_and_of_every_kind(texts: Texts) -> None:
    asked = questions(texts, 40, 7)
    assert asked == questions(texts, 40, 7)
    assert asked != questions(texts, 40, 8)
    assert Counter(question.kind for question in asked) == dict.fromkeys(KINDS, 8)
    assert len({question.text for question in asked}) > 30


def test_narrative_questions_ask_for_what_the_smallest_corpus_tells(texts: Texts) -> None:
    told = " ".join(m.text.lower() for m in islice(admitted_passages(texts, 1_000, 7), 500))
    for question in questions(texts, 100, 7):
        if question.text.startswith("What is told of "):
            for term in question.text.removeprefix("What is told of ").removesuffix("?").split(" and "):
                assert term in told


def test_the_tables_stand_in_the_manifest_as_in_the_sample(tmp_path: Path, texts: Texts) -> None:
    manifests = write_corpus(tmp_path / "corpus", sample=SAMPLE, texts=texts, total=1_000, seed=7)
    ours = tomllib.loads(manifests[ASKER_TENANT].read_text("utf-8"))["source"]
    sample = tomllib.loads((SAMPLE / "manifest.toml").read_text("utf-8"))["source"]
    tables = [source for source in sample if "table" in source or "features" in source]
    assert [source for source in ours if source in tables] == tables


@pytest.mark.parametrize("sizes", ["", "x", "1000,,", "999", "1000001", "1e5"])
def test_sizes_that_cannot_be_are_refused(sizes: str) -> None:
    assert CliRunner().invoke(app, ["--sizes", sizes]).exit_code == 2


@pytest.mark.parametrize("option", [["--queries", "4"], ["--rounds", "0"], ["--peer", "unheard-of"]])
def test_options_that_cannot_be_are_refused(option: list[str]) -> None:
    assert CliRunner().invoke(app, option).exit_code == 2
