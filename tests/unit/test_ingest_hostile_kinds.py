"""Files of the newer kinds that are made to hurt: each costs at most its own row."""

from __future__ import annotations

import resource
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from retrieval.errors import IngestError
from retrieval.ingest.formats.load import media_type_of
from retrieval.ingest.pipeline import Ingest
from retrieval.ingest.quarantine.quarantine import Quarantine, ReadLimits
from retrieval.ingest.reading import FileTask
from retrieval.ingest.records.chunk import ChunkSize
from retrieval.ingest.values import Owner, SourceSpec
from tests.hostile_kinds import hostile_kinds, wrong_endings
from tests.kinds_maker import epub_of, ods_of, odt_of, odt_paragraph, pptx_of
from tests.shipped_terms import shipped_terms
from tests.unit.test_ingest_pipeline import Home

LIMITS = ReadLimits(memory_mb=448, cpu_s=5)
"""Those of the default, with less time: a file that needs more costs no more than the default in any case."""
GOOD = {
    "a.pptx": pptx_of(("Bridge", ["It was opened in 1911."], [], "")),
    "m.odt": odt_of(odt_paragraph("It was opened in 1912.")),
    "n.ods": ods_of({"S": [["county", "1900"], ["Ness", 4535]]}),
    "z.epub": epub_of({"a.xhtml": "<p>It was opened in 1913.</p>"}),
    "z.eml": b"Subject: Bridge\n\nIt was opened in 1914.\n",
}


@pytest.fixture(scope="module")
def quarantine() -> Iterator[Quarantine]:
    with Quarantine(LIMITS) as opened:
        yield opened


@pytest.fixture
async def home(tmp_path: Path, quarantine: Quarantine) -> AsyncIterator[Home]:
    opened = Home(tmp_path)
    opened.ingest = Ingest(
        terms=shipped_terms, store=opened.store, indexes=opened.indexes, group_records=5_000, read=quarantine.read
    )
    yield opened
    await opened.store.aclose()


async def test_every_hostile_file_has_a_row_and_the_rest_of_the_run_is_whole(home: Home) -> None:
    files = {**hostile_kinds(), **wrong_endings()}
    assert len(files) >= 60
    for name, data in {**files, **{f"good-{name}": data for name, data in GOOD.items()}}.items():
        (home.files / name).write_bytes(data)
    report = await home.run()
    rows = {Path(row.path).name: row for row in report.files}
    assert rows.keys() == {*files, *(f"good-{name}" for name in GOOD)}
    assert {rows[f"good-{name}"].state for name in GOOD} == {"done"}
    for name, row in rows.items():
        assert row.state == "done" or (row.state == "failed" and row.error_code and row.error_message), name
        assert "its parser failed" not in (row.error_message or ""), row.error_message
    refused = {name for name, row in rows.items() if row.state == "failed"}
    assert refused >= {*wrong_endings()}
    for entity in ("laughs", "blowup", "external"):
        assert refused >= {f"{entity}.{kind}" for kind in ("odt", "epub")}
    words = " ".join(await _words(home))
    assert "root:" not in words and "lollol" not in words and "aaaaaaaa" not in words


async def _words(home: Home) -> list[str]:
    return list((await home.seen()).values())


@pytest.mark.parametrize("kind", ["pptx", "odt", "ods", "epub", "eml", "mbox", "fgb", "zip", "parquet", "json"])
def test_no_file_takes_more_time_than_it_may(kind: str) -> None:
    """What the kernel counts for the processes that read, which are those of this test alone."""
    for name, data in hostile_kinds().items():
        if not name.endswith(f".{kind}"):
            continue
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with Quarantine(LIMITS) as fresh:
            source = SourceSpec(Path(name), "d", "T")
            try:
                fresh.read(
                    FileTask(source, Owner("d@1", "d", "c"), media_type_of(source.path, None), {}, ChunkSize(), data)
                )
            except IngestError as exc:
                assert str(exc).startswith(name)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime < 7, name
