"""What decides is what the log says was published: nothing else in the home's policy folder opens the home."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api import wiring
from api.audit.policy.release import Candidacy, Change, publish, roll_back
from api.cli.main import run
from api.home.backends import backends_of
from api.home.configuration import load
from api.wiring.ledger.log import log_to_write
from api.wiring.publications import PUBLISHED, record_publication
from ledger.model import Kind
from policy.bundles.archive import BundleArchive, copy_bundle, folder_digest
from policy.bundles.bundle import DATA_PATH, SHIPPED, load_bundle
from policy.bundles.releases import Releases
from policy.errors import BundleNotFound, BundleRejected, BundleUnpublished
from tests.api_world import make_world
from tests.harness import opened
from tests.published import copied, published, published_live
from tests.unit.test_policy_releases import candidate, remade

SHIPPED_DIGEST = load_bundle().digest


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asyncio.run(make_world(tmp_path_factory.mktemp("bound"))).configuration.home


@pytest.fixture
def home(corpus: Path, tmp_path: Path) -> Path:
    return copied(corpus, tmp_path / "home")


async def in_force(home: Path) -> str:
    async with opened(home) as system:
        return system.policy.bundle.digest


async def rolled_back(home: Path, digest: str) -> str | None:
    configuration = load({}, home=home)
    active = Releases(home / "policy").state().active or SHIPPED_DIGEST
    async with log_to_write(configuration) as ledger:
        return await roll_back(
            digest, active=active, change=Change("tester", "back"), configuration=configuration, ledger=ledger
        )


async def details(home: Path) -> list[dict[str, Any]]:
    async with wiring.open_ledger(load({}, home=home)) as ledger:
        found = await ledger.entries(kind=Kind.CONFIG, limit=100)
        return [json.loads(await ledger.part(each.leaf.entry_id, "detail")) for each in found]


def bundle_of(home: Path, digest: str) -> Path:
    return BundleArchive(home / "policy" / "bundles").path(digest)


def another_module(home: Path, digest: str) -> None:
    """A module with one more section, and a manifest that names it: rules and data, and so the digest, are the same."""
    place = bundle_of(home, digest) / "wasm"
    module = (place / "bundle.wasm").read_bytes() + b"\0\2\1x"
    (place / "bundle.wasm").write_bytes(module)
    manifest = json.loads((place / "manifest.json").read_text())
    manifest["wasm_sha256"] = hashlib.sha256(module).hexdigest()
    (place / "manifest.json").write_text(json.dumps(manifest))
    assert load_bundle(place.parent).digest == digest


def a_flipped_byte(home: Path, digest: str) -> None:
    module = bundle_of(home, digest) / "wasm" / "bundle.wasm"
    found = bytearray(module.read_bytes())
    found[len(found) // 2] ^= 1
    module.write_bytes(found)


def other_data(home: Path, digest: str) -> None:
    data = bundle_of(home, digest) / "rego" / DATA_PATH
    data.write_text(data.read_text().replace('"viewer": "public_viewer"', '"viewer": "admin"'))


def other_data_under_their_digest(home: Path, digest: str) -> None:
    """Everything that the folder itself says fits: the digest, the place, and the state."""
    data = bundle_of(home, digest) / "rego" / DATA_PATH
    document = json.loads(data.read_text())
    document["aliases"]["viewer"] = "admin"
    data.write_text(json.dumps(document))
    opened_wide = load_bundle(bundle_of(home, digest)).digest
    bundle_of(home, digest).rename(home / "policy" / "bundles" / opened_wide.removeprefix("sha256:"))
    named(home, opened_wide)


def named(home: Path, digest: str | None) -> None:
    file = home / "policy" / "state.json"
    state = json.loads(file.read_text()) if file.is_file() else {"version": 1, "shadow": None, "history": []}
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(state | {"active": digest}))


def fewer_vectors(home: Path, digest: str) -> None:
    file = bundle_of(home, digest) / "vectors" / "query.json"
    document = json.loads(file.read_text())
    document["cases"] = document["cases"][:1]
    file.write_text(json.dumps(document))


def fewer_tests(home: Path, digest: str) -> None:
    (bundle_of(home, digest) / "rego" / "kfm" / "ai" / "query_test.rego").unlink()


def an_invented_announcement(home: Path, digest: str) -> None:
    file = home / "policy" / "state.json"
    wide = BundleArchive(home / "policy" / "bundles").put(candidate(home.parent / "wide", 1)).digest
    file.write_text(json.dumps(json.loads(file.read_text()) | {"active": wide, "announced": wide}))


TAMPERINGS: dict[str, Callable[[Path, str], object]] = {
    "another module for the same rules": another_module,
    "a byte of the module": a_flipped_byte,
    "other data": other_data,
    "other data under a digest of their own": other_data_under_their_digest,
    "fewer vectors": fewer_vectors,
    "fewer tests": fewer_tests,
    "no invariants": lambda home, digest: (bundle_of(home, digest) / "vectors" / "invariants.toml").unlink(),
    "no state": lambda home, _: (home / "policy" / "state.json").unlink(),
    "no policy folder": lambda home, _: shutil.rmtree(home / "policy"),
    "a state that names no bundle": lambda home, _: named(home, None),
    "a state that names the bundle before": lambda home, _: named(home, SHIPPED_DIGEST),
    "a state that names a bundle of nobody": lambda home, _: named(
        home, BundleArchive(home / "policy" / "bundles").put(candidate(home.parent / "wide", 1)).digest
    ),
    "a state that names what is not there": lambda home, _: named(home, "sha256:" + "0" * 64),
    "a state that announces a bundle of nobody": an_invented_announcement,
    "a damaged state": lambda home, _: (home / "policy" / "state.json").write_text("{"),
}


@pytest.mark.parametrize("how", TAMPERINGS)
async def test_what_was_not_published_does_not_open_the_home(home: Path, tmp_path: Path, how: str) -> None:
    digest = await published(home, candidate(tmp_path / "new", 600))
    assert await in_force(home) == digest
    recorded = await details(home)
    TAMPERINGS[how](home, digest)
    with pytest.raises((BundleRejected, BundleNotFound)):
        await in_force(home)
    assert await details(home) == recorded, "a refusal vouches for nothing"


async def test_the_command_line_says_what_is_wrong_and_how_to_mend_it(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    digest = await published(home, candidate(tmp_path / "new", 600))
    (home / "policy" / "state.json").unlink()

    def exhibit(*words: object) -> tuple[int, dict[str, Any]]:
        code = run([*map(str, words), "--home", str(home), "--json"])
        return code, json.loads(capsys.readouterr().out)

    code, document = await asyncio.to_thread(exhibit, "ask", "Who kept the ferry?")
    assert (code, document["error"]["code"]) == (8, "POLICY_UNAVAILABLE")
    assert f"exhibit policy rollback {digest}" in document["error"]["message"]
    code, document = await asyncio.to_thread(exhibit, "doctor")
    [finding] = [each for each in document if each["name"] == "policy" and each["state"] == "failed"]
    assert digest in finding["detail"]
    code, document = await asyncio.to_thread(exhibit, "policy", "rollback", digest, "--why", "The file was lost")
    assert (code, document["bundle_digest"]) == (0, digest)
    assert await in_force(home) == digest
    [_, last] = await details(home)
    assert last["policy_rollback"]["why"] == "The file was lost"


async def test_a_state_of_an_earlier_day_is_found(home: Path, tmp_path: Path) -> None:
    """The whole folder as it was before the last publication."""
    first = await published(home, candidate(tmp_path / "first", 600))
    shutil.copytree(home / "policy", tmp_path / "earlier")
    second = await published(home, candidate(tmp_path / "second", 601))
    assert await in_force(home) == second
    shutil.copyfile(tmp_path / "earlier" / "state.json", home / "policy" / "state.json")
    with pytest.raises(BundleUnpublished, match=second):
        await in_force(home)
    shutil.rmtree(home / "policy")
    shutil.copytree(tmp_path / "earlier", home / "policy")
    with pytest.raises(BundleUnpublished, match=second):
        await in_force(home)
    assert await rolled_back(home, first) is not None
    assert await in_force(home) == first
    assert (await details(home))[-1]["policy_rollback"]["before"] == second


async def test_without_any_publication_only_the_shipped_bundle_opens(home: Path, tmp_path: Path) -> None:
    assert await in_force(home) == SHIPPED_DIGEST
    wide = BundleArchive(home / "policy" / "bundles").put(candidate(tmp_path / "wide", 1)).digest
    named(home, wide)
    with pytest.raises(BundleUnpublished, match=SHIPPED_DIGEST):
        await in_force(home)
    await rolled_back(home, SHIPPED_DIGEST)
    assert await in_force(home) == SHIPPED_DIGEST


async def test_a_bundle_that_never_decided_is_no_way_back(home: Path, tmp_path: Path) -> None:
    """What ran in the shadow lies in the archive, and has passed no gate."""
    releases = Releases(home / "policy")
    shadow = releases.archive.put(candidate(tmp_path / "wide", 1)).digest
    releases.shadow(shadow, at_ms=1)
    await published(home, candidate(tmp_path / "new", 600))
    with pytest.raises(BundleUnpublished, match="never in force"):
        await rolled_back(home, shadow)
    assert len(await details(home)) == 1


@pytest.mark.parametrize("how", [another_module, fewer_vectors, fewer_tests])
async def test_the_way_back_is_to_the_same_files(
    home: Path, tmp_path: Path, how: Callable[[Path, str], object]
) -> None:
    await published(home, candidate(tmp_path / "new", 600))
    how(home, SHIPPED_DIGEST)
    with pytest.raises(BundleUnpublished, match="not those that were in force"):
        await rolled_back(home, SHIPPED_DIGEST)


async def test_nothing_is_published_beside_what_nobody_published(home: Path, tmp_path: Path) -> None:
    """Else a state that names a wide bundle would make a wide candidate look like no change."""
    await published(home, candidate(tmp_path / "new", 600))
    named(home, BundleArchive(home / "policy" / "bundles").put(candidate(tmp_path / "wide", 1)).digest)
    with pytest.raises(BundleUnpublished):
        await published(home, candidate(tmp_path / "wider", 0))


async def test_vectors_alone_are_a_publication_of_their_own(home: Path, tmp_path: Path) -> None:
    """The digest of rules and data is that of the bundle in force; the files are not."""
    copy_bundle(SHIPPED, tmp_path / "same")
    await published(home, tmp_path / "same")
    assert await details(home) == []
    (tmp_path / "same" / "vectors" / "invariants.toml").write_text("")
    assert await published(home, tmp_path / "same") == SHIPPED_DIGEST
    [detail] = await details(home)
    assert detail["policy_publication"]["folder_digest"] == folder_digest(tmp_path / "same")
    assert await in_force(home) == SHIPPED_DIGEST


async def test_a_candidate_that_changed_since_its_trial_is_not_published(home: Path, tmp_path: Path) -> None:
    """Nor one of whose files only the expectations changed."""
    folder, configuration = candidate(tmp_path / "new", 600), load({}, home=home)
    candidacy = Candidacy.of(load_bundle(folder), folder, backends_of(configuration).policy)
    (folder / "vectors" / "invariants.toml").unlink()
    async with log_to_write(configuration) as ledger:
        with pytest.raises(BundleRejected, match="while it was tried"):
            await publish(
                candidacy,
                gates_passed=[],
                widened=[],
                change=Change("tester", "to see"),
                configuration=configuration,
                ledger=ledger,
            )
    assert await in_force(home) == SHIPPED_DIGEST


async def test_a_publisher_that_was_cut_off_after_the_entry_has_published(home: Path, tmp_path: Path) -> None:
    releases, folder = Releases(home / "policy"), candidate(tmp_path / "new", 600)
    digest = releases.archive.put(folder).digest
    releases.announce(digest)
    assert await in_force(home) == SHIPPED_DIGEST, "announced, and not on the ledger"
    told = {
        "before": SHIPPED_DIGEST,
        "before_folder_digest": folder_digest(SHIPPED),
        "after": digest,
        "folder_digest": folder_digest(folder),
    }
    async with log_to_write(load({}, home=home)) as ledger:
        await record_publication(ledger, PUBLISHED, told)
    assert await in_force(home) == digest
    state = releases.state()
    assert (state.active, state.announced) == (digest, None)


async def test_many_publications_have_one_that_is_the_last(home: Path, tmp_path: Path) -> None:
    digests = [await published(home, candidate(tmp_path / str(n), 600 + n)) for n in range(5)]
    assert await in_force(home) == digests[-1]
    assert [each["policy_publication"]["after"] for each in await details(home)] == digests
    for digest in (digests[1], digests[3], SHIPPED_DIGEST):
        await rolled_back(home, digest)
        assert await in_force(home) == digest
    named(home, digests[3])
    with pytest.raises(BundleUnpublished, match=SHIPPED_DIGEST):
        await in_force(home)


async def test_a_log_that_goes_on_from_an_older_one_knows_its_publications(home: Path, tmp_path: Path) -> None:
    digest = await published(home, candidate(tmp_path / "new", 600))
    async with wiring.open_ledger(load({}, home=home)) as ledger:
        await ledger.checkpoint()
    ledger_file = home / "ledger.sqlite"
    shutil.copyfile(ledger_file, tmp_path / "earlier.sqlite")
    async with opened(home) as system:
        await published_live(system, candidate(tmp_path / "newer", 601))
        await system.services.ledger.checkpoint()
    for path in home.glob("ledger.sqlite*"):
        path.unlink()
    shutil.copyfile(tmp_path / "earlier.sqlite", ledger_file)
    with pytest.raises(BundleUnpublished, match=digest):
        await in_force(home)
    assert (home / "ledger-2.sqlite").is_file()
    await rolled_back(home, digest)
    assert await in_force(home) == digest


async def test_another_module_is_not_taken_for_the_one_that_was_tried(home: Path, tmp_path: Path) -> None:
    """A bundle in the shadow with the digest of a candidate, filed before it, does not decide in its place."""
    releases = Releases(home / "policy")
    releases.archive.put(remade(tmp_path / "other"))
    assert folder_digest(releases.archive.path(SHIPPED_DIGEST)) != folder_digest(SHIPPED)
    copy_bundle(SHIPPED, tmp_path / "new")
    (tmp_path / "new" / "vectors" / "note.txt").write_text("more")
    await published(home, tmp_path / "new")
    async with opened(home) as system:
        assert system.policy.bundle.wasm == load_bundle().wasm
