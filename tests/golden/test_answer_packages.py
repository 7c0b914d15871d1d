"""A grounded answer as one file: what it holds for whom, and that nothing of it can be altered unnoticed."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import shutil
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest

from api.audit.entries.records import INTENT_PARTS, auditors_parts
from api.errors import NoSuchThing
from api.web.answer_package import check_package, package_of
from ledger.errors import LedgerError, MalformedNote, VerificationFailed
from tests.command_line import Run, command_line
from tests.harness import ask, opened

FIGURE = "What was the population of Shawnee County in 1930?"
OTHER = "What was the population of Ford County in 1930?"
AUDITED = {
    "README.txt", "answer.json", "bundle.json", "log.vkey", "manifest.json", "policy.answer.json", "policy.evidence.json",
    "policy.query.json", "prov.json", "prov.jsonld", "question.txt", "quotes.json", "receipts/intent.txt",
    "receipts/outcome.txt", "scope.json", "verify.html",
}  # fmt: skip


def files_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(files: list[tuple[str, bytes]]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name may stand in it twice
        for name, content in files:
            archive.writestr(name, content)
    return data.getvalue()


@pytest.fixture(scope="module")
def made(kansas_home: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Packages of two answers, and one of the first again after more was recorded."""
    home = tmp_path_factory.mktemp("packages") / "home"
    shutil.copytree(kansas_home, home)
    return asyncio.run(packages_of(home))


async def packages_of(home: Path) -> dict[str, Any]:
    packages: dict[str, Any] = {"home": home}
    async with opened(home) as system:
        ledger = system.services.ledger
        for name, question in (("one", FIGURE), ("other", OTHER), ("again", None)):
            if question is not None:
                body = await ask(system, question)
                packages[f"{name} id"] = body["provenance"]["entry_id"]
            entry = await ledger.entry(packages["one id" if question is None else f"{name} id"])
            packages[name] = await package_of(
                entry, ledger, parts=await auditors_parts(entry, ledger), asked=INTENT_PARTS
            )
        packages["vkey"] = ledger.vkey
        intents = [ref.id for ref in (await ledger.entry(packages["one id"])).leaf.refs if ref.rel == "intent"]
        with pytest.raises(NoSuchThing):
            await package_of(await ledger.entry(intents[0]), ledger, parts=("answer",), asked=())
    return packages


def test_a_package_holds_what_the_answer_rests_on(made: dict[str, Any]) -> None:
    files = files_of(made["one"])
    assert {name for name in files if not name.startswith("sources/")} == AUDITED
    assert files["question.txt"].decode() == FIGURE
    assert "85,200" in json.loads(files["answer.json"])["answer"]
    [sentence] = json.loads(files["quotes.json"])
    assert "85200" in sentence["quotes"][0]["quote"]
    assert sentence["quotes"][0]["source"] in files
    checked = check_package(made["one"], vkeys=[made["vkey"]])
    assert (checked.outcome.leaf.entry_id, checked.page_compared) == (made["one id"], True)


def test_the_same_answer_has_the_same_bytes(made: dict[str, Any]) -> None:
    assert made["again"] == made["one"] != made["other"]


def test_no_file_can_be_altered_left_out_or_added(made: dict[str, Any]) -> None:
    files = files_of(made["one"])
    for name, content in files.items():
        without = [(each, data) for each, data in files.items() if each != name]
        for spoilt in (without, [*without, (name, b"")], [*without, (name, content + b" ")]):
            if name == "verify.html" and spoilt[-1][0] == name:
                continue  # another version may have made it; the next test
            with pytest.raises(LedgerError):
                check_package(zipped(spoilt), vkeys=[made["vkey"]])
    for extra in ("more.txt", "sources/99.json", "../answer.json", "answer.json"):
        with pytest.raises((VerificationFailed, MalformedNote)):
            check_package(zipped([*files.items(), (extra, b"{}")]), vkeys=[made["vkey"]])


def test_a_page_of_another_version_is_said_to_be_not_compared(made: dict[str, Any]) -> None:
    files = files_of(made["one"]) | {"verify.html": b"<p>another version</p>"}
    with pytest.raises(VerificationFailed, match=r"manifest\.json"):
        check_package(zipped([*files.items()]), vkeys=[made["vkey"]])
    manifest = json.loads(files["manifest.json"])
    manifest["sha256"]["verify.html"] = hashlib.sha256(files["verify.html"]).hexdigest()
    files["manifest.json"] = (json.dumps(manifest, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()
    assert not check_package(zipped([*files.items()]), vkeys=[made["vkey"]]).page_compared


def test_files_of_two_answers_do_not_mix(made: dict[str, Any]) -> None:
    one, other = files_of(made["one"]), files_of(made["other"])
    for name in one.keys() & other.keys():
        if one[name] != other[name] and name != "verify.html":
            with pytest.raises(LedgerError):
                check_package(zipped([*(one | {name: other[name]}).items()]), vkeys=[made["vkey"]])
    swapped = one | {name: other[name] for name in ("receipts/intent.txt", "question.txt")}
    with pytest.raises(VerificationFailed, match="another question"):
        check_package(zipped([*swapped.items()]), vkeys=[made["vkey"]])


@pytest.mark.parametrize("size", [0, 1, 100, -1, -30])
def test_what_is_no_package_is_refused(made: dict[str, Any], size: int) -> None:
    for data in (made["one"][:size], b"PK\x03\x04" + made["one"][:size], zipped([("a", b"")]), zipped([])):
        with pytest.raises((MalformedNote, VerificationFailed)):
            check_package(data, vkeys=[made["vkey"]])


def test_another_logs_key_does_not_verify_it(made: dict[str, Any]) -> None:
    name, number, key = made["vkey"].split("+", 2)
    for vkey in (f"{name}+{number}+{key[:-4]}AAA=", f"elsewhere.example/log+{number}+{key}"):
        with pytest.raises(LedgerError):
            check_package(made["one"], vkeys=[vkey])


def test_the_command_writes_and_checks(
    made: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cli: Run = command_line(capsys, monkeypatch)
    file, key = tmp_path / "answer.zip", made["vkey"]
    assert cli("ledger", "package", made["one id"], "--out", file, "--home", made["home"])[0] == 0
    assert file.read_bytes() == made["one"]
    code, out, _ = cli("ledger", "package", "--check", file, "--vkey", key)
    assert code == 0
    assert "intact" in out
    file.write_bytes(made["one"].replace(b"85,200", b"85,201"))
    assert cli("ledger", "package", "--check", file, "--vkey", key)[0] == 7  # the archive's own checksum
    file.write_bytes(zipped([*(files_of(made["one"]) | {"question.txt": b"What else?"}).items()]))
    assert cli("ledger", "package", "--check", file, "--vkey", key)[0] == 7
    for words in ((), (made["one id"],), ("--check", file), ("--out", file), (made["one id"], "--check", file)):
        assert cli("ledger", "package", *words, "--home", made["home"])[0] == 2
