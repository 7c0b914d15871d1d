"""docs/formats.md is enough to read a home: a reader that was written from it reads the kept homes, and notices what is
changed in them."""

from __future__ import annotations

import ast
import json
import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature, InvalidTag

from ledger.model import FORMS
from tests.golden import reader
from tests.golden.kept_homes import VERSIONS, KeptHome, unpack

ROOT = Path(__file__).parents[2]
REFUSALS = (reader.Wrong, InvalidSignature, InvalidTag, ValueError, KeyError, IndexError, TypeError)


@pytest.fixture(scope="module", params=VERSIONS)
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> KeptHome:
    return unpack(request.param, tmp_path_factory.mktemp("kept"))


def test_the_reader_knows_the_page_alone() -> None:
    tree = ast.parse(Path(reader.__file__).read_text("utf-8"))
    modules = {name.name for each in ast.walk(tree) if isinstance(each, ast.Import) for name in each.names}
    modules |= {str(each.module) for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)}
    assert not {name.split(".")[0] for name in modules} & {"ai", "api", "ledger", "policy", "retrieval", "tests"}


def test_the_page_lists_every_form() -> None:
    page = (ROOT / "docs" / "formats.md").read_text("utf-8")
    assert {key: tuple(names.split()) for key, names in reader.FORMS.items()} == {
        (version, str(kind)): parts for (version, kind), parts in FORMS.items()
    }
    for (version, kind), names in reader.FORMS.items():
        assert f"`{version}`" in page and f"`{kind}`" in page and f"| `{names}` |" in page


def test_the_log_and_every_part(kept: KeptHome) -> None:
    log = reader.Log(kept.home)
    log.check()
    verified = kept.recorded["verified"]
    assert (len(log.leaves), reader.root(log.hashes).hex()) == (verified["size"], verified["root"])
    assert sum(len(log.parts(place)) for place in range(len(log.leaves))) == verified["parts"]
    assert {body["kind"] for body in log.leaves} >= {"intent", "outcome", "retrieval", "redaction", "key", "config"}
    for asked in kept.recorded["asked"]:
        place = [body["id"] for body in log.leaves].index(asked["body"]["provenance"]["entry_id"])
        answer = json.loads(log.parts(place)["answer"][1])
        assert answer == {name: asked["body"][name] for name in answer}


def test_receipts_and_export(kept: KeptHome) -> None:
    keys = [reader.Key(key) for key in kept.recorded["vkeys"]]
    for path, asked in zip(kept.receipts, kept.recorded["asked"], strict=True):
        body, parts = reader.receipt(path.read_text("utf-8"), keys)
        assert body["id"] == asked["body"]["provenance"]["entry_id"]
        assert json.loads(parts["answer"])["answer"] == asked["body"]["answer"]
    assert reader.export(kept.folder / "export")
    _, size, _ = reader.checkpoint((kept.home / "checkpoint.highest").read_text(), keys)
    assert size == kept.recorded["verified"]["size"]


def test_settings_policies_documents_keys_repeats(kept: KeptHome) -> None:
    assert reader.settings(kept.home / "exhibit.toml")["retrieval"]["fusion_k"] == 61
    assert [step["action"] for step in reader.policies(kept.home)["history"]] == ["shadow", "publish"]
    assert reader.documents(kept.home) > 500
    repeat = kept.recorded["idempotent"]
    key = reader.api_key(kept.home, repeat["token"])
    assert (key["name"], key["revoked"]) == ("kept", False)
    assert reader.api_key(kept.home, kept.recorded["revoked_token"])["revoked"]
    assert reader.repeats(kept.home) == {repeat["idempotency_key"]: repeat["body"]["provenance"]["entry_id"]}
    entries = reader.rows(kept.home / "ledger-index.sqlite", "SELECT idx, id, leaf_hash FROM entries")
    log = reader.Log(kept.home)
    assert all((log.leaves[idx]["id"], log.hashes[idx].hex()) == (found, hashed) for idx, found, hashed in entries)


def test_the_witness(kept: KeptHome) -> None:
    keys = [reader.Key(key) for key in kept.recorded["vkeys"]]
    witness = reader.Key(kept.recorded["witness_vkey"])
    assert reader.public_of((kept.folder / "witness" / "witness.key").read_text()) == kept.recorded["witness_vkey"]
    [(origin, size, note)] = reader.rows(
        kept.folder / "witness" / "witness.sqlite", "SELECT origin, size, note FROM seen"
    )
    assert reader.checkpoint(note, keys)[:2] == (origin, size)
    text = note.partition("\n\n")[0] + "\n"
    lines = reader.rows(kept.home / "ledger.sqlite", f"SELECT line FROM cosignatures WHERE size = {size}")
    assert [reader.cosigned(text, line.strip(), witness) > 0 for (line,) in lines] == [True]


def test_a_changed_receipt_is_noticed(kept: KeptHome) -> None:
    keys = [reader.Key(key) for key in kept.recorded["vkeys"]]
    text, chance = kept.receipts[0].read_text("utf-8"), random.Random(1)
    for _ in range(60):
        at = chance.randrange(text.rindex("\n\n"))  # what is signed; lines of unknown keys are passed over
        changed = text[:at] + chance.choice("abAB01+/=\n ") + text[at + 1 :]
        if changed != text:
            with pytest.raises(REFUSALS):
                reader.receipt(changed, keys)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE leaves SET leaf = CAST(replace(CAST(leaf AS TEXT), 'kept-1', 'kept-2') AS BLOB) WHERE idx = 3",
        "UPDATE leaves SET rseq = 99 WHERE idx = 4",
        "UPDATE blobs SET blob = CAST(x'00' || substr(blob, 2) AS BLOB) WHERE idx = 1 AND name = 'answer'",
        "UPDATE secrets SET salt = (SELECT salt FROM secrets WHERE idx = 3 AND name = 'answer') WHERE idx = 1 AND name = 'answer'",
        "UPDATE checkpoints SET root = zeroblob(32)",
        "UPDATE checkpoints SET note = replace(note, char(10) || '2', char(10) || '3')",
        "DELETE FROM leaves WHERE idx = 2",
    ],
)
def test_a_changed_log_is_noticed(kept: KeptHome, tmp_path: Path, statement: str) -> None:
    shutil.copytree(kept.home, tmp_path / "home")
    with sqlite3.connect(tmp_path / "home" / "ledger.sqlite") as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        assert db.execute(statement).rowcount
    db.close()
    with pytest.raises(REFUSALS):
        reader.Log(tmp_path / "home").check()
