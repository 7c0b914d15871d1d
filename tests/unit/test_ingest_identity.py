"""A source is found again however it is named, every file has a fate, and nothing outside a folder is read by way of a link."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval.ingest.sources import sources_of
from retrieval.model import Lifecycle
from tests.unit.test_ingest_pipeline import Home, T

MANIFEST = '[[source]]\npath = "{path}"\nsource_id = "{id}"\ntitle = "t"\nlicense = "CC0"\ncollection = "kansas"\nlabel = "{label}"\n'


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    opened = Home(tmp_path)
    yield opened
    await opened.store.aclose()


async def active(home: Home) -> list[tuple[str, str]]:
    return sorted((d.source_id, d.class_id) for d in await home.store.stored(T))


async def labels(home: Home) -> list[str]:
    return [c.label for c in await home.store.classes(T)]


@pytest.mark.parametrize("second", ["file", "absolute", "dotted", "parent", "link"])
async def test_a_tighter_label_by_another_name_leaves_no_old_version_answering(
    home: Home, second: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write("good.md", "Words about Topeka.\n")
    first = await home.run(label="public")
    (home.files.parent / "other").symlink_to(home.files, target_is_directory=True)
    monkeypatch.chdir(home.files)
    named = {
        "file": home.files / "good.md",
        "absolute": home.files.resolve() / "good.md",
        "dotted": Path("./good.md"),
        "parent": home.files / ".." / "files" / "good.md",
        "link": home.files.parent / "other" / "good.md",
    }[second]
    again = await home.ingest.run([named], tenant=T, collection="kansas", label="restricted")
    assert [f.state for f in again.files] == ["done"]
    assert again.superseded == (first.files[0].document_id,)
    assert await labels(home) == ["restricted"]
    assert [source for source, _ in await active(home)] == ["files.good.md"]
    assert again.files[0].source_id == "files.good.md"
    assert (await home.store.files(T))[0].source_id == "files.good.md"


async def test_the_same_file_named_twice_in_one_run_is_one_source(home: Home) -> None:
    home.write("good.md", "Words about Topeka.\n")
    report = await home.ingest.run([home.files, home.files / "good.md"], tenant=T, label="public")
    assert [f.source_id for f in report.files] == ["files.good.md"]


async def test_a_file_that_was_moved_is_the_same_source(home: Home) -> None:
    home.write("good.md", "Words about Topeka.\n")
    await home.run(label="public")
    (home.files / "deep").mkdir()
    (home.files / "good.md").rename(home.files / "deep" / "better.md")
    await home.run(label="restricted")
    assert await labels(home) == ["restricted"]
    assert [source for source, _ in await active(home)] == ["files.good.md"]


async def test_a_copy_under_another_label_is_refused_and_one_under_the_same_is_not(home: Home) -> None:
    home.write("good.md", "Words about Topeka.\n")
    await home.run(label="public")
    copy = home.files.parent / "copy.md"
    copy.write_text("Words about Topeka.\n")
    refused = await home.ingest.run([copy], tenant=T, collection="kansas", label="restricted")
    [row] = refused.files
    assert (row.state, row.error_code) == ("failed", "CONFLICT")
    assert "files.good.md" in (row.error_message or "")
    taken = await home.ingest.run([copy], tenant=T, collection="kansas", label="public")
    assert [f.state for f in taken.files] == ["done"]


async def test_a_manifest_that_calls_a_known_file_otherwise_is_refused_until_that_is_withdrawn(home: Home) -> None:
    home.write("good.md", "Words about Topeka.\n")
    await home.run(label="public")
    manifest = home.files.parent / "corpus.toml"
    manifest.write_text(MANIFEST.format(path="files/good.md", id="good", label="restricted"))
    [row] = (await home.ingest.run([manifest], tenant=T)).files
    assert (row.state, row.error_code) == ("failed", "CONFLICT")
    assert await labels(home) == ["public"]
    await home.ingest.remove(["files.good.md"], tenant=T)
    [row] = (await home.ingest.run([manifest], tenant=T)).files
    assert row.state == "done" and await labels(home) == ["restricted"]


async def test_a_manifest_that_names_a_file_twice_is_refused(home: Home) -> None:
    from retrieval.errors import ManifestError

    home.write("good.md", "Words.\n")
    manifest = home.files / "manifest.toml"
    manifest.write_text(
        MANIFEST.format(path="good.md", id="a", label="public")
        + MANIFEST.format(path="./good.md", id="b", label="restricted")
    )
    with pytest.raises(ManifestError, match=r"both source a and b"):
        await home.ingest.run([home.files], tenant=T)


async def test_every_file_has_a_row_and_the_others_go_on(home: Home) -> None:
    home.write("good.md", "Words about Topeka.\n")
    for name in ("report.docx", "figures.xlsx", "map.gpkg", "noending", "archive.zip"):
        (home.files / name).write_bytes(b"PK\x03\x04")
    (home.files / "gone.txt").symlink_to(home.files / "nowhere.txt")
    outside = home.files.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("Secret words.\n")
    (home.files / "link.md").symlink_to(outside / "secret.md")
    (home.files / "folder").symlink_to(outside, target_is_directory=True)
    os.mkfifo(home.files / "pipe.txt")
    (home.files / os.fsdecode(b"caf\xe9.txt")).write_text("Words of a name that is not UTF-8.\n")
    (home.files / ".hidden").mkdir()
    (home.files / ".hidden" / "no.md").write_text("Not read.\n")
    report = await home.run()
    fates = {Path(f.path).name: f.state for f in report.files}
    assert fates == {
        "good.md": "done", "report.docx": "failed", "figures.xlsx": "failed", "map.gpkg": "failed", "noending": "failed",
        "archive.zip": "failed", "gone.txt": "failed", "link.md": "failed", "folder": "failed", "pipe.txt": "failed",
        "caf\\udce9.txt": "failed",
    }  # fmt: skip
    assert all(f.error_code == "VALIDATION_FAILED" and f.error_message for f in report.failed)
    assert "Secret" not in str(await home.seen())
    assert await home.store.files(T) == report.files


async def test_a_folder_that_cannot_be_read_has_a_row(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.write("good.md", "Words about Topeka.\n")
    (home.files / "closed").mkdir()
    scandir = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)  # whoever runs the tests may be root
    report = await home.run()
    assert {Path(f.path).name: f.state for f in report.files} == {"good.md": "done", "closed": "failed"}


async def test_without_a_collection_files_go_into_the_default_one(home: Home) -> None:
    home.write("good.md", "Words about Topeka.\n")
    report = await home.ingest.run([home.files / "good.md"], tenant=T, label="public")
    assert [f.state for f in report.files] == ["done"]
    assert [c.name for c in await home.store.collections(T)] == ["default"]


@settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(names=st.lists(st.sampled_from(["a.md", "b.txt", "c.docx", "d", "e.csv", "sub/f.md", "sub/g.bin"]), unique=True))
def test_a_folder_gives_each_of_its_files_once_in_order(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("folder")
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")
    sources, _ = sources_of([folder, *(folder / name for name in names), folder], None)
    assert [source.path.relative_to(folder).as_posix() for source in sources] == sorted(names, key=Path)
    assert len({source.source_id for source in sources}) == len(names)


async def test_what_was_withdrawn_is_no_name_to_be_found_under(home: Home) -> None:
    home.write("good.md", "Words about Topeka.\n")
    await home.run(label="public")
    await home.ingest.remove(["files.good.md"], tenant=T)
    [row] = (await home.ingest.run([home.files / "good.md"], tenant=T, label="restricted")).files
    assert row.source_id == "good.md"
    assert [d.source_id for d in await home.store.stored(T, Lifecycle.WITHDRAWN)] == ["files.good.md"]
