"""What a job of ingest came to is on the ledger: who, what, how many, which versions, however it ended."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from api.home.configuration import Configuration, load
from api.jobs.outcome import VERSION
from api.jobs.uploads import READY, Uploads
from api.jobs.work import INTERRUPTED, take_in_paths, work_off
from api.wiring import new_id, open_indexes, open_job_store, open_ledger
from ledger.errors import LedgerUnavailable
from ledger.ledger import Ledger
from ledger.model import EntryRef, Kind
from retrieval.errors import StoreUnavailable
from retrieval.ingest.pipeline import Ingest
from retrieval.registry.jobs import Job
from tests.command_line import command_line
from tests.job_kills import OWNER, send

TEXT = {"note.txt": b"The mill of Alma burned in 1871.", "x.bin": b"\0"}


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    (tmp_path / "home").mkdir()
    return load({}, home=tmp_path / "home")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for name, data in TEXT.items():
        (folder / name).write_bytes(data)
    return folder


async def told_on(configuration: Configuration) -> list[dict[str, Any]]:
    """What the ledger says of jobs, in order."""
    async with open_ledger(configuration) as ledger:
        found = [
            json.loads((await ledger.contents(entry, ("detail",)))["detail"])
            async for entry in ledger.every(kind=Kind.CONFIG)
        ]
    return [each for each in found if each["v"] == VERSION]


async def active(configuration: Configuration) -> list[str]:
    async with open_indexes(configuration) as (store, _, _indexes):
        return sorted(each.document_id for each in await store.stored("default"))


async def test_a_run_of_the_command_line_is_told(configuration: Configuration, files: Path) -> None:
    report = await take_in_paths(configuration, [files], label="public")
    [told] = await told_on(configuration)
    assert (told["who"], told["origin"], told["label"], told["state"]) == ("local", "paths", "public", "done")
    assert told["run_id"] == report.run_id and told["corpus"] == report.manifest_hash
    assert told["files"] == {"done": 1, "failed": 1} and told["records"]["passages"] == 1
    assert told["documents"] == await active(configuration)
    assert sum(told["errors"].values()) == 1 and told["rows"].startswith("sha256:")
    await take_in_paths(configuration, [files], label="public")
    _, again = await told_on(configuration)
    assert again["files"] == {"skipped": 1, "failed": 1}
    assert (again["documents"], again["records"]["passages"]) == ([], 0)
    assert again["corpus"] == told["corpus"] and again["rows"] != told["rows"]


def test_the_command_writes_it_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, files: Path
) -> None:
    cli = command_line(capsys, monkeypatch)
    code, _, err = cli("ingest", files / "note.txt", "--label", "public", "--home", tmp_path / "home")
    assert code == 0, err
    code, out, err = cli("ledger", "verify", "--json", "--home", tmp_path / "home")
    assert code == 0, err
    code, out, err = cli("ledger", "search", "--json", "--home", tmp_path / "home", "--kind", "config")
    assert code == 0 and len(json.loads(out)) == 1, (out, err)


async def test_what_was_sent_is_told_in_the_same_way(configuration: Configuration) -> None:
    job_id = await send(configuration, TEXT)
    assert await work_off(configuration) == 1
    [told] = await told_on(configuration)
    assert (told["job_id"], told["who"], told["origin"], told["state"]) == (job_id, OWNER, "upload", "done")
    assert told["files"] == {"done": 1, "failed": 1}
    assert told["documents"] == await active(configuration)


async def test_a_job_that_was_cut_off_is_told_by_the_next(configuration: Configuration, files: Path) -> None:
    await take_in_paths(configuration, [files], label="public")
    async with open_job_store(configuration) as jobs:
        cut = Job(new_id(), "default", "local", "paths", None, "public", files=1, state="running", run_id="r")
        await jobs.put(cut)
    await take_in_paths(configuration, [files], label="public")
    told = await told_on(configuration)
    assert [(each["job_id"] == cut.job_id, each["state"], each["error_code"]) for each in told] == [
        (False, "done", None),
        (True, "failed", INTERRUPTED),
        (False, "done", None),
    ]


async def test_a_run_that_fails_is_told(
    configuration: Configuration, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: Ingest, *_: object, **__: object) -> None:
        raise StoreUnavailable("the disk is full")

    monkeypatch.setattr(Ingest, "repair", broken)
    with pytest.raises(StoreUnavailable, match="full"):
        await take_in_paths(configuration, [files], label="public")
    [told] = await told_on(configuration)
    assert told["state"] == "failed" and told["error_code"] and told["documents"] == []
    assert told["files"] == {"failed": 2} and told["corpus"] is None


async def test_without_a_ledger_nothing_is_taken_in(configuration: Configuration, files: Path) -> None:
    await take_in_paths(configuration, [files / "note.txt"], label="public")
    before = await active(configuration)
    job_id = await send(configuration, {"b.txt": b"Another text about the mill."})
    shutil.move(configuration.home / "keys", configuration.home / "away")
    (files / "a.txt").write_text("A text that is new.")
    with pytest.raises(LedgerUnavailable):
        await take_in_paths(configuration, [files], label="public")
    with pytest.raises(LedgerUnavailable):
        await work_off(configuration)
    assert await active(configuration) == before
    shutil.rmtree(configuration.home / "keys", ignore_errors=True)
    shutil.move(configuration.home / "away", configuration.home / "keys")
    assert await work_off(configuration) == 1
    assert (await told_on(configuration))[-1]["job_id"] == job_id
    assert len(await active(configuration)) == len(before) + 1


@pytest.mark.parametrize("origin", ["paths", "upload"])
async def test_a_ledger_that_fails_at_the_end_leaves_the_job_to_be_ended(
    configuration: Configuration, files: Path, monkeypatch: pytest.MonkeyPatch, origin: str
) -> None:
    record = Ledger.record

    async def recording(self: Ledger, kind: Kind, **told: Any) -> EntryRef:
        if VERSION.encode() in told["parts"].get("detail", b""):
            raise LedgerUnavailable("the disk is full")
        return await record(self, kind, **told)

    async def take() -> None:
        if origin == "paths":
            await take_in_paths(configuration, [files], label="public")
        else:
            await work_off(configuration)

    job_id = await send(configuration, TEXT) if origin == "upload" else ""
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "record", recording)
        with pytest.raises(LedgerUnavailable):
            await take()
    assert await told_on(configuration) == []
    assert Uploads(configuration.home).jobs(READY) == ((job_id,) if job_id else ())
    await take()
    told = await told_on(configuration)
    assert [each["state"] for each in told] == (["failed", "done"] if origin == "paths" else ["done"])
    if origin == "paths":  # its rows say what it did before nobody could say so
        assert told[0]["documents"] == await active(configuration) and told[0]["error_code"] == INTERRUPTED
