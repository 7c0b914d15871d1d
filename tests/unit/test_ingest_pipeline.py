"""The whole of ingest over a real store: idempotent, whole or not at all, and a bad file is its own affair."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from retrieval.errors import ChannelUnavailable, ManifestError
from retrieval.index import IndexBatch
from retrieval.ingest.pipeline import Ingest
from retrieval.ingest.quarantine.quarantine import Quarantine
from retrieval.ingest.reading import Reader, read_file
from retrieval.ingest.report import IngestReport
from retrieval.ingest.upkeep.upkeep import IngestStore
from retrieval.model import Lifecycle
from retrieval.registry.sqlite import open_sqlite_store
from retrieval.registry.store import FileJob
from retrieval.scope import Scope
from tests.fakes_retrieval import ScanIndex
from tests.pdf_maker import pdf_of
from tests.shipped_terms import shipped_terms

ROOT = Path(__file__).parents[2]
T = "default"


class Home:
    """A store, a channel, a folder of files."""

    def __init__(self, folder: Path, *, group_records: int = 50, read: Reader = read_file) -> None:
        self.store: IngestStore = open_sqlite_store(folder / "record.sqlite")
        self.indexes = (ScanIndex(), ScanIndex())
        self.ingest = Ingest(
            terms=shipped_terms, store=self.store, indexes=self.indexes, group_records=group_records, read=read
        )
        self.files = folder / "files"
        self.files.mkdir()

    async def run(self, *, label: str | None = "public", collection: str = "kansas", **more: object) -> IngestReport:
        return await self.ingest.run([self.files], tenant=T, collection=collection, label=label, **more)  # type: ignore[arg-type]

    def write(self, name: str, text: str) -> None:
        (self.files / name).write_text(text)

    async def seen(self) -> dict[str, str]:
        """Text of everything that a reader of the tenant finds through the channels."""
        scope = Scope.of(T, await self.store.classes(T))
        for index in self.indexes:
            assert index.visible.keys() == self.indexes[0].visible.keys()
        ids = [r.record_id for records in self.indexes[0].visible.values() for r in records]
        return {k: v.record.text for k, v in (await self.store.fetch(ids, scope=scope)).items()}


@contextlib.asynccontextmanager
async def quarantined_home(folder: Path, quarantine: Quarantine, *, group_records: int = 50) -> AsyncIterator[Home]:
    """A home whose files are read in a process of their own."""
    opened = Home(folder, group_records=group_records, read=quarantine.read)
    try:
        yield opened
    finally:
        await opened.store.aclose()


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    opened = Home(tmp_path)
    yield opened
    await opened.store.aclose()


async def test_the_same_again_changes_nothing(home: Home) -> None:
    home.write("a.md", "# A\n\nTopeka in 1854.\n")
    home.write("b.csv", "name,1930\nShawnee,85200\n")
    first = await home.run()
    again = await home.run()
    assert [f.state for f in first.files] == ["done", "done"]
    assert [f.state for f in again.files] == ["skipped", "skipped"]
    assert [f.document_id for f in first.files] == [f.document_id for f in again.files]
    assert first.manifest_hash == again.manifest_hash
    assert sorted((await home.seen()).values()) == ["Shawnee,85200", "Shawnee,85200", "Topeka in 1854."]


async def test_a_changed_file_takes_the_place_of_the_old_one_in_every_channel(home: Home) -> None:
    home.write("a.txt", "Old words about Topeka.")
    before = await home.run()
    home.write("a.txt", "New words about Topeka.")
    after = await home.run()
    assert after.superseded == (before.files[0].document_id,)
    assert list((await home.seen()).values()) == ["New words about Topeka."]
    home.write("a.txt", "Old words about Topeka.")
    assert (await home.run()).manifest_hash == before.manifest_hash
    assert list((await home.seen()).values()) == ["Old words about Topeka."]


async def test_another_label_is_another_version(home: Home) -> None:
    home.write("a.txt", "Words.")
    first = await home.run(label="public")
    second = await home.run(label="restricted")
    assert second.superseded == (first.files[0].document_id,)
    assert [c.label for c in await home.store.classes(T)] == ["restricted"]


async def test_a_source_that_is_removed_is_gone_from_every_channel(home: Home) -> None:
    home.write("a.txt", "Stay.")
    home.write("b.txt", "Go.")
    await home.run()
    gone = await home.ingest.remove(["files.b.txt", "never-was"], tenant=T)
    assert len(gone) == 1
    assert list((await home.seen()).values()) == ["Stay."]
    assert [d.document_id for d in await home.store.stored(T, Lifecycle.WITHDRAWN)] == list(gone)
    assert await home.ingest.remove(["files.b.txt"], tenant="other") == ()


BAD: dict[str, bytes] = {
    "empty.txt": b"",
    "space.md": b" \n\n",
    "latin.txt": b"caf\xe9",
    "control.txt": b"a\x00b",
    "truncated.pdf": pdf_of("Kansas")[:90],
    "ragged.csv": b"name,1930\nShawnee\n",
    "invalid.geojson": b'{"type": "FeatureCollection", "features": [{]}',
    "bowtie.geojson": b'{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},"geometry":'
    b'{"type":"Polygon","coordinates":[[[0,0],[1,1],[1,0],[0,1],[0,0]]]}}]}',
    "badges.md": b"![x](y)\n",
}


async def test_bad_files_fail_alone_and_leave_nothing(home: Home) -> None:
    home.write("good.txt", "Good words.")
    alone = await home.run()
    for name, data in BAD.items():
        (home.files / name).write_bytes(data)
    (home.files / "gone.txt").symlink_to(home.files / "nowhere.txt")
    home.write("megabyte.txt", "word " * 210_000)
    report = await home.run()
    failed = {Path(f.path).name: f for f in report.failed}
    assert failed.keys() == {*BAD, "gone.txt"}
    for name, job in failed.items():
        assert job.error_code == "VALIDATION_FAILED"
        assert job.error_message and name in job.error_message
        assert str(home.files) not in job.error_message and "Traceback" not in job.error_message
        assert job.passages == job.observations == job.features == 0
    assert {Path(f.path).name for f in report.files if f.state == "done"} == {"megabyte.txt"}
    await home.ingest.remove(["files.megabyte.txt"], tenant=T)
    assert await home.store.manifest_hash(T) == alone.manifest_hash
    assert [d.source_id for d in await home.store.stored(T, Lifecycle.DRAFT)] == []
    assert await home.store.files(T) == report.files


async def test_a_file_that_vanishes_between_listing_and_reading(home: Home) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        home.write(name, f"Words of {name}.")

    def vanish(job: FileJob) -> None:
        if job.path.endswith("a.txt"):
            (home.files / "b.txt").unlink(missing_ok=True)

    report = await home.run(progress=vanish)
    assert [f.state for f in report.files] == ["done", "failed", "done"]
    assert report.files[1].error_message == "b.txt: there is no such file"
    assert report.files[1].stage == "load"


async def test_no_label_no_document(home: Home) -> None:
    home.write("a.txt", "Words.")
    (row,) = (await home.run(label=None)).files
    assert (row.state, row.stage, row.error_code) == ("failed", "label", "VALIDATION_FAILED")
    assert await home.seen() == {}


async def test_a_row_per_file_from_the_first_second(home: Home) -> None:
    for i in range(5):
        home.write(f"{i}.txt", f"Words {i}.")
    first: list[tuple[FileJob, ...]] = []
    rows = home.store.files

    class Watching(ScanIndex):
        async def add(self, batch: IndexBatch) -> None:
            first.append(await rows(T))
            await super().add(batch)

    await Ingest(terms=shipped_terms, store=home.store, indexes=[Watching()], group_records=1).run(
        [home.files], tenant=T, collection="kansas", label="public"
    )
    assert len(first[0]) == 5
    assert [f.state for f in first[0]][1:] == ["queued"] * 4


async def test_a_derived_name_never_pushes_out_a_source_of_another_collection(home: Home) -> None:
    home.write("a.txt", "Words.")
    await home.run(collection="one")
    (row,) = (await home.run(collection="two")).files
    assert row.state == "failed" and "another collection" in (row.error_message or "")
    assert list((await home.seen()).values()) == ["Words."]


async def test_a_channel_that_is_down_stops_the_run_and_shows_nothing(home: Home) -> None:
    class Down(ScanIndex):
        async def commit(self) -> None:
            raise ChannelUnavailable("fulltext", "it is down")

    home.write("a.txt", "Words.")
    broken = Ingest(terms=shipped_terms, store=home.store, indexes=[home.indexes[0], Down()])
    with pytest.raises(ChannelUnavailable):
        await broken.run([home.files], tenant=T, collection="kansas", label="public")
    assert await home.store.classes(T) == ()
    (row,) = await home.store.files(T)
    assert row.state not in ("done", "failed", "skipped")
    report = await home.run(resume=True)
    assert report.run_id == row.run_id
    assert list((await home.seen()).values()) == ["Words."]


async def test_a_channel_that_cannot_add_is_the_error_itself(home: Home) -> None:
    class Down(ScanIndex):
        async def add(self, batch: IndexBatch) -> None:
            raise ChannelUnavailable("fulltext", "it is down")

    home.write("a.txt", "Words.")
    home.write("b.txt", "More words.")
    broken = Ingest(terms=shipped_terms, store=home.store, indexes=[Down(), home.indexes[0]], group_records=1)
    with pytest.raises(ChannelUnavailable):
        await broken.run([home.files], tenant=T, collection="kansas", label="public")
    assert await home.store.classes(T) == ()


async def test_nothing_to_take_in(home: Home) -> None:
    assert (await home.run(resume=True)).files == ()
    assert (await home.run(resume=True)).files == ()


async def test_repair_fills_a_lost_index_and_takes_out_what_is_stale(home: Home) -> None:
    home.write("a.txt", "Words.")
    await home.run()
    await home.indexes[1].clear()
    await home.run()
    assert list((await home.seen()).values()) == ["Words."]
    await home.store.set_lifecycle([d.document_id for d in await home.store.stored(T)], Lifecycle.WITHDRAWN)
    await home.ingest.repair(T)
    assert [index.visible for index in home.indexes] == [{}, {}]


async def test_rebuild_gives_the_same_indexes(home: Home) -> None:
    home.write("a.md", "# Storm (May 1, 1880)\n\nTopeka in 1854.\n")
    home.write("b.csv", "name,1930\nShawnee,85200\n")
    batches: list[IndexBatch] = []

    class Recording(ScanIndex):
        async def add(self, batch: IndexBatch) -> None:
            batches.append(batch)
            await super().add(batch)

    ingest = Ingest(terms=shipped_terms, store=home.store, indexes=[Recording()])
    await ingest.run([home.files], tenant=T, collection="kansas", label="public")
    assert await ingest.rebuild() == 2
    first, second = batches
    for part in ("records", "entries", "relationships", "mentions"):
        assert sorted(map(repr, getattr(first, part))) == sorted(map(repr, getattr(second, part)))
        assert getattr(first, part)


async def test_new_facts_are_taken_over_without_a_new_version(home: Home) -> None:
    def manifest(title: str, until: str) -> Path:
        path = home.files / "manifest.toml"
        path.write_text(
            f'[[source]]\npath = "a.txt"\nsource_id = "a"\ntitle = "{title}"\nlicense = "CC0"\nlabel = "public"\n'
            f'collection = "kansas"\nvalid_until = {until}\n[[collection]]\nname = "kansas"\ntitle = "{title}s"\n'
        )
        return path

    home.write("a.txt", "Words.")
    manifest("Old", "2999-01-01")
    (before,) = (await home.run()).files
    version = await home.store.corpus_version(T)
    manifest("New", "2999-01-01")
    (after,) = (await home.run()).files
    assert (after.state, after.document_id) == ("skipped", before.document_id)
    facts = await home.store.facts_of(after.document_id or "")
    assert facts is not None and facts.title == "New"
    assert [c.title for c in await home.store.collections(T)] == ["News"]
    assert await home.store.corpus_version(T) > version


async def test_another_time_of_validity_is_another_version(home: Home) -> None:
    """Records that expire are in an access class of their own, in every index."""

    def manifest(until: str) -> None:
        (home.files / "manifest.toml").write_text(
            '[[source]]\npath = "a.txt"\nsource_id = "a"\ntitle = "A"\nlicense = "CC0"\nlabel = "public"\n'
            f'collection = "kansas"\nvalid_until = {until}\n'
        )

    home.write("a.txt", "Words.")
    manifest("2999-01-01")
    (before,) = (await home.run()).files
    manifest("2999-01-02")
    (after,) = (await home.run()).files
    assert after.state == "done" and after.document_id != before.document_id
    facts = await home.store.facts_of(after.document_id or "")
    assert facts is not None and facts.visibility.valid_until_ms == facts.valid_until_ms


async def test_a_manifest_lists_everything_that_is_taken(home: Home, tmp_path: Path) -> None:
    home.write("a.txt", "Listed.")
    home.write("b.txt", "Not listed.")
    home.write("manifest.toml", '[[source]]\npath = "a.txt"\nsource_id = "a"\ntitle = "A"\nlicense = "CC0"\n')
    assert [f.source_id for f in (await home.run()).files] == ["a"]
    home.write("manifest.toml", "[[source]]\n")
    with pytest.raises(ManifestError):
        await home.run()
    assert list((await home.seen()).values()) == ["Listed."]


WORKER = '''
import asyncio, sys, json
from pathlib import Path
from retrieval.ingest.label import AccessTerms
from retrieval.ingest.pipeline import Ingest
from retrieval.registry.sqlite import open_sqlite_store


class Durable:
    """The ids of documents in a file, replaced whole by a commit."""

    def __init__(self, path):
        self.path = path
        self.next = set(json.loads(path.read_text())) if path.exists() else set()

    async def add(self, batch):
        self.next |= {record.document_id for record in batch.records}

    async def remove(self, document_ids):
        self.next -= set(document_ids)

    async def commit(self):
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps(sorted(self.next)))
        fresh.replace(self.path)

    async def documents(self):
        return frozenset(json.loads(self.path.read_text())) if self.path.exists() else frozenset()


async def main(home):
    store = open_sqlite_store(home / "record.sqlite")
    indexes = [Durable(home / "one.json"), Durable(home / "two.json")]
    print("ready", flush=True)
    report = await Ingest(terms=lambda: AccessTerms(("public",)), store=store, indexes=indexes, group_records=40).run(
        [home / "files"], tenant="default", collection="kansas", label="public", resume=True)
    held = {frozenset(await index.documents()) for index in indexes}
    active = frozenset(d.document_id for d in await store.stored("default"))
    assert held == {active}, "a channel and the store disagree"
    print(report.manifest_hash, len(report.failed))
    await store.aclose()

asyncio.run(main(Path(sys.argv[1])))
'''


def test_a_kill_at_any_point_and_a_resume_give_the_same_corpus(tmp_path: Path) -> None:
    chance = random.Random(5)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def start(home: Path) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", WORKER, str(home)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT)

    def finish(home: Path) -> str:
        process = start(home)
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0, out
        return out.splitlines()[-1]

    def prepared(name: str) -> Path:
        home = tmp_path / name
        (home / "files").mkdir(parents=True)
        for i in range(24):
            words = " ".join(f"Settler {j} came to Kansas in {1850 + (i + j) % 40}." for j in range(60 + i))
            (home / "files" / f"{i:02d}.txt").write_text(words)
        return home

    whole = finish(prepared("whole"))
    killed = prepared("killed")
    kills = 0
    for _ in range(2):
        process = start(killed)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            process.wait(timeout=chance.uniform(0.0, 0.6))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.communicate()
    assert kills >= 1
    assert finish(killed) == whole
    assert whole.endswith(" 0")


class Crash(BaseException):
    """Stands for a kill: nothing after it runs."""


POINTS = ["put_files", "put_collection", "put_all", "add", "commit", "activate", "remove"]


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("call", [1, 2, 3])
async def test_a_crash_after_any_step_shows_nothing_half(home: Home, tmp_path: Path, point: str, call: int) -> None:
    home.write("a.txt", "Old words.")
    await home.run()
    home.write("a.txt", "New words.")
    for i in range(3):
        home.write(f"b{i}.md", f"# B\n\nWords of {i}. " + "More words. " * 30)
    calls = 0
    places: tuple[object, ...] = (home.store, *home.indexes)
    for place in places:
        if not hasattr(place, point):
            continue
        step = getattr(place, point)

        async def crashing(*args: object, _step: Callable[..., Awaitable[object]] = step, **more: object) -> object:
            nonlocal calls
            calls += 1
            result = await _step(*args, **more)
            if calls == call:
                raise Crash
            return result

        setattr(place, point, crashing)
    small = Ingest(terms=shipped_terms, store=home.store, indexes=home.indexes, group_records=1)
    with contextlib.suppress(Crash, BaseExceptionGroup):
        await small.run([home.files], tenant=T, collection="kansas", label="public")
    for place in places:
        vars(place).pop(point, None)
    active = {d.document_id for d in await home.store.stored(T)}
    for index in home.indexes:
        index._next = dict(index.visible)  # what was not committed is lost with the process
        assert active <= index.visible.keys()
    assert len({d.source_id for d in await home.store.stored(T)}) == len(active)
    report = await home.run(resume=True)
    assert not report.failed
    assert len(await home.seen()) == 4
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    clean: IngestStore = open_sqlite_store(fresh / "record.sqlite")
    other = Ingest(terms=shipped_terms, store=clean, indexes=[])
    assert (
        await other.run([home.files], tenant=T, collection="kansas", label="public")
    ).manifest_hash == report.manifest_hash
    await clean.aclose()
