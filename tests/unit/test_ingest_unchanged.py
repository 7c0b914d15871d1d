"""Files whose status is what it was are not read again, and nothing else about a run depends on that."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict
from pathlib import Path

import pytest
import rfc8785
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval.ingest.digest_cache import CACHE_VERSION, DigestCache, FileStatus, KnownDigests
from retrieval.ingest.pipeline import Ingest
from retrieval.ingest.prepare import RECOGNITION_VERSION, TABLES_VERSION, document_id_of
from retrieval.ingest.records.chunk import ChunkSize
from retrieval.ingest.report import IngestReport
from retrieval.ingest.sync import sync_plan
from retrieval.ingest.values import SourceSpec
from retrieval.scope import VisibilityClass
from tests.shipped_terms import shipped_terms
from tests.unit.test_ingest_pipeline import Home, T

OLD, NEW = "Old words about Topeka.", "New words about Topeka."
A_MINUTE_NS = 60_000_000_000


def later() -> int:
    """A moment at which nothing was written just now."""
    return time.time_ns() + A_MINUTE_NS


class CachedHome(Home):
    """A home whose ingest is opened anew for each run, as the command does it, with a cache in a file."""

    def __init__(self, folder: Path, clock_ns: Callable[[], int] = later) -> None:
        folder.mkdir(exist_ok=True)
        super().__init__(folder)
        self.cache = folder / "digests.json"
        self.clock_ns = clock_ns

    async def run(self, **more: object) -> IngestReport:  # type: ignore[override]
        digests = DigestCache(self.cache, clock_ns=self.clock_ns)
        self.ingest = Ingest(terms=shipped_terms, store=self.store, indexes=self.indexes, digests=digests)
        return await super().run(**more)  # type: ignore[arg-type]

    def forge(self, name: str, text: str) -> None:
        """Writes the file so that nothing but its bytes tells: the cache holds its new status beside the old digest."""
        place = str((self.files / name).resolve())
        old = "sha256:" + hashlib.sha256((self.files / name).read_bytes()).hexdigest()
        self.write(name, text)
        digests = DigestCache(self.cache, clock_ns=self.clock_ns)
        assert digests.of(T).sha256_of(place, FileStatus.of(self.files / name)) is None
        digests.keep(T, place, FileStatus.of(self.files / name), old)
        digests.save(T, places=digests.of(T).files)


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[CachedHome]:
    opened = CachedHome(tmp_path)
    yield opened
    await opened.store.aclose()


def states(report: IngestReport) -> list[str]:
    return [file.state for file in report.files]


async def words(home: Home) -> list[str]:
    return sorted((await home.seen()).values())


async def test_an_unchanged_file_is_not_read_and_verify_reads_it(home: CachedHome) -> None:
    home.write("a.txt", OLD)
    first = await home.run()
    home.forge("a.txt", NEW)
    again = await home.run()
    assert (states(again), again.manifest_hash) == (["skipped"], first.manifest_hash)
    assert again.files[0].document_id == first.files[0].document_id
    assert states(await home.run(verify=True)) == ["done"]
    assert await words(home) == [NEW]
    assert states(await home.run()) == ["skipped"]
    assert await words(home) == [NEW]


async def test_the_plan_of_a_synchronisation_reads_no_unchanged_file_unless_told(home: CachedHome) -> None:
    home.write("a.txt", OLD)
    await home.run()
    home.forge("a.txt", NEW)
    home.write("b.txt", NEW)
    held, places = await home.store.stored_files(T), [str(home.files.resolve() / f"{name}.txt") for name in "ab"]
    known = await sync_plan(home.files, held, DigestCache(home.cache).of(T))
    assert (known.unchanged, known.added) == (tuple(places[:1]), tuple(places[1:]))
    read = await sync_plan(home.files, held, KnownDigests())
    assert (read.changed, read.added) == (tuple(places[:1]), tuple(places[1:]))


async def test_the_same_size_and_time_of_change_hide_nothing(home: CachedHome) -> None:
    home.write("a.txt", OLD)
    before = (home.files / "a.txt").stat()
    await home.run()
    home.write("a.txt", NEW)
    os.utime(home.files / "a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert states(await home.run()) == ["done"]
    assert await words(home) == [NEW]


async def test_what_was_written_just_now_is_read_again(tmp_path: Path) -> None:
    home = CachedHome(tmp_path, time.time_ns)
    home.write("a.txt", OLD)
    await home.run()
    digests = DigestCache(home.cache)
    place = str((home.files / "a.txt").resolve())
    assert digests.of(T).sha256_of(place, FileStatus.of(home.files / "a.txt")) is None
    await home.store.aclose()


async def test_a_file_that_was_touched_is_read_and_is_what_it_was(home: CachedHome) -> None:
    home.write("a.txt", OLD)
    first = await home.run()
    os.utime(home.files / "a.txt", ns=(1, 1))
    again = await home.run()
    assert (states(again), again.manifest_hash) == (["skipped"], first.manifest_hash)


async def test_another_label_counts_though_the_file_is_what_it_was(home: CachedHome) -> None:
    home.write("a.txt", OLD)
    await home.run(label="public")
    assert states(await home.run(label="restricted")) == ["done"]
    assert [c.label for c in await home.store.classes(T)] == ["restricted"]


MANIFEST = '[[source]]\npath = "a.txt"\nsource_id = "a"\ntitle = "{title}"\nlicense = "{license}"\n{more}\n'
TOLD = {"title": "One", "license": "CC0", "more": ""}


@pytest.mark.parametrize(
    "change",
    [
        {"title": "Two"},
        {"license": "MIT"},
        {"more": 'uri = "https://example.org/a"'},
        {"more": 'attribution = "Somebody"'},
        {"more": "valid_until = 2031-12-31"},
        {"more": 'label = "restricted"'},
        {"more": 'skip = ["^New"]'},
        {"more": 'media_type = "text/markdown"'},
        {"more": "[source.metadata]\ncounty = 'Shawnee'"},
    ],
    ids=lambda change: next(iter(change.values())),
)
async def test_what_a_manifest_says_of_an_unchanged_file_counts(
    home: CachedHome, tmp_path: Path, change: dict[str, str]
) -> None:
    other = CachedHome(tmp_path / "other")
    for each in (home, other):
        each.write("a.txt", OLD)
    (home.files / "manifest.toml").write_text(MANIFEST.format(**TOLD))
    await home.run()
    (before,) = (await home.store.descriptions(T)).items()
    assert states(await home.run()) == ["skipped"]
    for each in (home, other):
        (each.files / "manifest.toml").write_text(MANIFEST.format(**TOLD | change))
    after, plain = await home.run(), await other.run()
    assert after.manifest_hash == plain.manifest_hash
    assert await home.store.descriptions(T) == await other.store.descriptions(T) != dict([before])
    await other.store.aclose()


async def test_a_lookup_that_changed_counts_for_the_table_that_did_not(home: CachedHome) -> None:
    home.write("names.csv", "key,name\n1,Topeka\n")
    home.write("rows.csv", "place,1930\n1,5\n")
    (home.files / "manifest.toml").write_text(
        "[[source]]\npath = 'names.csv'\nsource_id = 'names'\ntitle = 'n'\nlicense = 'CC0'\n"
        "[[source]]\npath = 'rows.csv'\nsource_id = 'rows'\ntitle = 'r'\nlicense = 'CC0'\n"
        "[source.table]\nstatement = '{town} had {1930}.'\n[[source.table.derive]]\nname = 'town'\nfrom = '{place}'\n"
        "lookup = { path = 'names.csv', key = 'key', value = 'name' }\n"
    )
    await home.run()
    assert states(await home.run()) == ["skipped", "skipped"]
    home.write("names.csv", "key,name\n1,Wichita\n")
    assert states(await home.run()) == ["done", "done"]


@pytest.mark.parametrize("end", ["remove", "erase"])
async def test_what_was_withdrawn_or_erased_meanwhile_is_taken_in_again(home: CachedHome, end: str) -> None:
    home.write("a.txt", OLD)
    first = await home.run()
    if end == "erase":
        await home.ingest.erase("files.a.txt", tenant=T)
        assert not home.cache.exists()
    else:
        await home.ingest.remove(["files.a.txt"], tenant=T)
    assert await words(home) == []
    assert (await home.run()).manifest_hash == first.manifest_hash
    assert await words(home) == [OLD]


async def test_a_file_that_went_and_came_back(home: CachedHome) -> None:
    home.write("a.txt", OLD)
    home.write("b.txt", NEW)
    first = await home.run()
    (home.files / "a.txt").rename(home.files.parent / "a.txt")
    assert states(await home.run()) == ["skipped"]
    (home.files.parent / "a.txt").rename(home.files / "a.txt")
    assert (await home.run()).manifest_hash == first.manifest_hash


async def test_a_link_in_the_place_of_an_unchanged_file_is_refused(home: CachedHome) -> None:
    home.write("a.txt", OLD)
    await home.run()
    (home.files / "a.txt").rename(home.files.parent / "a.txt")
    (home.files / "a.txt").symlink_to(home.files.parent / "a.txt")
    digests, place = DigestCache(home.cache, clock_ns=later), str(home.files.resolve() / "a.txt")
    digests.keep(T, place, FileStatus.of(home.files.parent / "a.txt"), digests.of(T).files[place][1])
    digests.save(T, places=[place])
    assert states(await home.run()) == ["failed"]


async def test_another_tenant_has_digests_of_its_own(home: CachedHome) -> None:
    home.write("a.txt", OLD)
    await home.run()
    digests = DigestCache(home.cache, clock_ns=later)
    ingest = Ingest(terms=shipped_terms, store=home.store, indexes=home.indexes, digests=digests)
    report = await ingest.run([home.files], tenant="other", collection="kansas", label="public")
    assert states(report) == ["done"]
    assert states(await home.run()) == ["skipped"]


def damages(data: bytes) -> st.SearchStrategy[bytes]:
    """Another content of a cache file than the one that was written."""
    cut = st.integers(0, len(data) - 1).map(lambda at: data[:at])
    flip = st.tuples(st.integers(0, len(data) - 1), st.integers(1, 255)).map(
        lambda each: data[: each[0]] + bytes([data[each[0]] ^ each[1]]) + data[each[0] + 1 :]
    )
    return st.one_of(cut, flip, st.binary(max_size=64), st.just(data + b" "))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_a_damaged_cache_is_an_empty_one(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "digests.json"
    file = tmp_path / "a.txt"
    file.write_text(OLD)
    whole = DigestCache(path, clock_ns=later)
    whole.keep(T, str(file), FileStatus.of(file), "sha256:" + "0" * 64)
    whole.of(T).rows = {"a@1 c 5": "x y z"}
    whole.save(T, places=[str(file)])
    assert DigestCache(path).of(T) == whole.of(T) and whole.of(T).files
    path.write_bytes(data.draw(damages(path.read_bytes())))
    assert DigestCache(path).of(T).files == {} and DigestCache(path).of(T).rows == {}


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"[]",
        b"null",
        b'{"version":%d}' % CACHE_VERSION,
        b'{"version":%d,"tenants":[]}' % CACHE_VERSION,
        b'{"version":%d,"tenants":{"default":{}}}' % CACHE_VERSION,
        b'{"version":%d,"tenants":{"default":{"files":{"/a":[1]},"rows":{}}}}' % CACHE_VERSION,
        b'{"version":%d,"tenants":{"default":{"files":{"/a":[1,2,3,4,"s"]},"rows":{}}}}' % (CACHE_VERSION + 1),
    ],
)
def test_a_cache_of_another_version_or_form_is_an_empty_one(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "digests.json"
    path.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    assert DigestCache(path).of(T).files == {}


async def test_a_cache_that_cannot_be_written_stops_nothing(home: CachedHome) -> None:
    home.cache.mkdir()
    home.write("a.txt", OLD)
    assert states(await home.run()) == ["done"]
    assert states(await home.run()) == ["skipped"]


async def test_the_cache_of_another_store_takes_nothing_in(home: CachedHome, tmp_path: Path) -> None:
    home.write("a.txt", OLD)
    whole = await home.run()
    second = CachedHome(tmp_path / "second")
    second.files, second.cache = home.files, home.cache
    report = await second.run()
    assert (states(report), report.manifest_hash) == (["done"], whole.manifest_hash)
    assert await words(second) == [OLD]
    await second.store.aclose()


INGEST = ("ingest", "public", "")
EDITS = st.lists(
    st.one_of(
        st.tuples(
            st.just("write"), st.sampled_from("abc"), st.sampled_from([OLD, NEW, "Another.", "", "caf\xe9 \x00"])
        ),
        st.tuples(st.just("drop"), st.sampled_from("abc"), st.just("")),
        st.tuples(st.just("touch"), st.sampled_from("abc"), st.just("")),
        st.tuples(st.just("move"), st.sampled_from("abc"), st.sampled_from("abc")),
        st.tuples(st.just("withdraw"), st.sampled_from("abc"), st.just("")),
        st.tuples(st.just("erase"), st.sampled_from("abc"), st.just("")),
        st.tuples(st.just("ingest"), st.sampled_from(["public", "restricted"]), st.sampled_from(["", "verify"])),
    ),
    max_size=12,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edits=EDITS)
def test_any_edits_end_in_the_same_corpus_with_and_without_the_cache(edits: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_play(Path(folder), [INGEST, *edits, INGEST]))


async def _play(root: Path, edits: list[tuple[str, str, str]]) -> None:
    cached, plain = CachedHome(root / "cached"), Home(root)
    for moment, (step, name, more) in enumerate(edits):
        if step == "ingest":
            with_it, without = [await home.run(label=name, verify=bool(more)) for home in (cached, plain)]
            assert with_it.manifest_hash == without.manifest_hash == await cached.store.manifest_hash(T)
            assert fates(with_it) == fates(without)
            assert await cached.seen() == await plain.seen()
        else:
            for home in (cached, plain):
                await _edit(home, step, name, more, moment)
    await cached.store.aclose()
    await plain.store.aclose()


async def _edit(home: Home, step: str, name: str, more: str, moment: int) -> None:
    file = home.files / f"{name}.txt"
    if step == "write":
        file.write_text(more)
    elif step == "drop":
        file.unlink(missing_ok=True)
    elif step == "move" and file.exists():
        file.rename(home.files / f"{more}.txt")
    elif step == "withdraw":
        await home.ingest.remove([f"files.{name}.txt"], tenant=T)
    elif step == "erase":
        await home.ingest.erase(f"files.{name}.txt", tenant=T)
    if step in ("write", "touch") and file.exists():
        os.utime(file, ns=(0, 1_000_000_000 + moment))  # so that no two edits share a tick of the clock


def fates(report: IngestReport) -> list[tuple[str, str, str | None, str | None]]:
    return [(file.state, file.source_id, file.document_id, file.error_code) for file in report.files]


@settings(max_examples=200, deadline=None)
@given(
    title=st.text(min_size=1),
    skip=st.lists(st.text(), max_size=2),
    sha256=st.text(alphabet="0123456789abcdef", min_size=64, max_size=64),
    words=st.integers(1, 2**31),
)
def test_the_id_of_a_document_is_that_of_its_canonical_form(
    title: str, skip: list[str], sha256: str, words: int
) -> None:
    visibility = VisibilityClass(T, "kansas", "public")
    source = SourceSpec(Path("a.csv"), "a", title, skip=tuple(skip))
    size = ChunkSize(words, words)
    recipe = [TABLES_VERSION, "text/csv", asdict(size), skip, {"derive": []}, [title, RECOGNITION_VERSION, None]]
    told = rfc8785.dumps({"sha256": sha256, "class": visibility.class_id, "recipe": recipe})
    wanted = "a@" + hashlib.sha256(told).hexdigest()[:12]
    assert document_id_of(source, visibility, size, sha256, {}) == wanted
