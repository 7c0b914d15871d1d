"""A widening that the data in force name needs two people: one proposes, another accepts, and both are on the ledger."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest

from api.audit.policy.release import NOBODY_NAMED, Candidacy, Change, Release, accept, publish
from api.cli.main import run
from api.errors import ActionForbidden, NoSuchThing, RequestRejected
from api.home.backends import backends_of
from api.home.configuration import load
from api.wiring import key_store
from api.wiring.ledger.log import log_to_write
from ledger.model import Kind
from policy.authoring.widening import need_a_second_person
from policy.authoring.widening.data import data_widenings
from policy.bundles.bundle import load_bundle
from policy.bundles.releases import Releases
from policy.errors import BundleNotFound, BundleUnpublished
from tests.api_world import make_world
from tests.edited_bundles import edited
from tests.published import copied, published

OPENS = "role contributor: clearance confidential"
TAKES = "second person: role *: removed"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asyncio.run(make_world(tmp_path_factory.mktemp("second"))).configuration.home


def bundle(folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The shipped bundle whose widenings of roles need a second person, with a change of its data."""

    def edit(data: dict[str, Any]) -> None:
        data["second_person"] = ["role *"]
        change(data)

    return edited(folder, edit)


def wider(data: dict[str, Any]) -> None:
    data["roles"]["contributor"]["clearance"] = "confidential"


def stricter(data: dict[str, Any]) -> None:
    data["limits"]["support_milli"] = 600


def careless(data: dict[str, Any]) -> None:
    del data["second_person"]


@pytest.fixture
async def home(corpus: Path, tmp_path: Path) -> Path:
    home = copied(corpus, tmp_path / "home")
    await published(home, bundle(tmp_path / "base", lambda _: None))
    return home


async def proposed(home: Path, folder: Path, by: str, widened: Collection[str] = (OPENS,)) -> Release:
    configuration = load({}, home=home)
    candidacy = Candidacy.of(load_bundle(folder), folder, backends_of(configuration).policy)
    change = Change(by, "because")
    async with log_to_write(configuration) as ledger:
        return await publish(
            candidacy,
            gates_passed=["all"],
            widened=[*widened],
            change=change,
            configuration=configuration,
            ledger=ledger,
        )


async def accepted(home: Path, folder: Path, by: str, names: Collection[str] = (OPENS,)) -> Release:
    configuration, change = load({}, home=home), Change(by, "seen")
    async with log_to_write(configuration) as ledger:
        digest = load_bundle(folder).digest
        return await accept(digest, accepted=names, change=change, configuration=configuration, ledger=ledger)


def in_force(home: Path) -> str | None:
    return Releases(home / "policy").state().active


async def details(home: Path) -> list[dict[str, Any]]:
    async with log_to_write(load({}, home=home)) as ledger:
        entries = await ledger.entries(after=-1, limit=1_000, kind=Kind.CONFIG)
        told = [json.loads((await ledger.contents(each, ("detail",))).get("detail", b"{}")) for each in entries]
    return [each for each in told if {"policy_publication", "policy_proposal"} & each.keys()]


async def test_one_proposes_and_another_accepts(home: Path, tmp_path: Path) -> None:
    before, folder = in_force(home), bundle(tmp_path / "wider", wider)
    release = await proposed(home, folder, "key:one")
    assert release.proposed
    assert in_force(home) == before
    assert not (await accepted(home, folder, "key:two")).proposed
    assert in_force(home) == load_bundle(folder).digest
    proposal, publication = (await details(home))[-2:]
    assert proposal["policy_proposal"]["second_person"] == [OPENS]
    told = publication["policy_publication"]
    assert (told["by"], told["accepted_by"], told["accepted_why"]) == ("key:one", "key:two", "seen")
    assert told["proposal"] == release.entry_id


async def test_what_needs_no_second_person_is_published_by_one(home: Path, tmp_path: Path) -> None:
    folder = bundle(tmp_path / "stricter", stricter)
    assert not (await proposed(home, folder, NOBODY_NAMED, ())).proposed
    assert in_force(home) == load_bundle(folder).digest


@pytest.mark.parametrize("by", ["key:one", NOBODY_NAMED])
async def test_who_proposes_does_not_accept(home: Path, tmp_path: Path, by: str) -> None:
    before, folder = in_force(home), bundle(tmp_path / "wider", wider)
    await proposed(home, folder, "key:one")
    with pytest.raises(ActionForbidden):
        await accepted(home, folder, by)
    assert in_force(home) == before


async def test_another_key_of_the_same_person_does_not_accept(home: Path, tmp_path: Path) -> None:
    keys = key_store(load({}, home=home))
    one, two, other = [
        f"key:{keys.create(name=name, tenant='default', roles=('admin',), groups=(), capabilities=())[0].key_id}"
        for name in ("ann", "ann", "bob")
    ]
    folder = bundle(tmp_path / "wider", wider)
    await proposed(home, folder, one)
    with pytest.raises(ActionForbidden):
        await accepted(home, folder, two)
    await accepted(home, folder, other)
    assert in_force(home) == load_bundle(folder).digest


async def test_nobody_in_particular_proposes_nothing(home: Path, tmp_path: Path) -> None:
    with pytest.raises(RequestRejected, match="--key-file"):
        await proposed(home, bundle(tmp_path / "wider", wider), NOBODY_NAMED)


@pytest.mark.parametrize("names", [(), ("role viewer: sees internal",), (OPENS.upper(),)])
async def test_all_that_it_opens_is_accepted_by_name(home: Path, tmp_path: Path, names: Collection[str]) -> None:
    folder = bundle(tmp_path / "wider", wider)
    await proposed(home, folder, "key:one")
    with pytest.raises(RequestRejected, match="contributor"):
        await accepted(home, folder, "key:two", names)


async def test_nothing_is_accepted_that_nobody_proposed(home: Path, tmp_path: Path) -> None:
    folder = bundle(tmp_path / "wider", wider)
    with pytest.raises(BundleNotFound):
        await accepted(home, folder, "key:two")
    Releases(home / "policy").archive.put(folder)
    with pytest.raises(NoSuchThing):
        await accepted(home, folder, "key:two")


async def test_a_later_publication_makes_a_proposal_void(home: Path, tmp_path: Path) -> None:
    folder, other = bundle(tmp_path / "wider", wider), bundle(tmp_path / "stricter", stricter)
    await proposed(home, folder, "key:one")
    await proposed(home, other, NOBODY_NAMED, ())
    with pytest.raises(NoSuchThing):
        await accepted(home, folder, "key:two")
    assert in_force(home) == load_bundle(other).digest


async def test_other_files_than_the_proposed_ones_are_not_accepted(home: Path, tmp_path: Path) -> None:
    """The digest of rules and data is the same; the expectations are thinner."""
    folder = bundle(tmp_path / "wider", wider)
    await proposed(home, folder, "key:one")
    (folder / "vectors" / "invariants.toml").write_text("")
    Releases(home / "policy").archive.put(folder, renew=True)
    with pytest.raises(NoSuchThing):
        await accepted(home, folder, "key:two")


async def test_a_proposal_is_made_once(home: Path, tmp_path: Path) -> None:
    folder = bundle(tmp_path / "wider", wider)
    await proposed(home, folder, "key:one")
    with pytest.raises(BundleUnpublished, match="proposed already"):
        await proposed(home, folder, "key:two")


def test_the_need_of_a_second_person_is_not_dropped_by_one(tmp_path: Path) -> None:
    before, after = load_bundle(bundle(tmp_path / "a", lambda _: None)), load_bundle(bundle(tmp_path / "b", careless))
    names = [each.name for each in data_widenings(before, after)]
    assert need_a_second_person(names, before.data) == (TAKES,)
    assert need_a_second_person(["role x: sees internal", "label x: new"], before.data) == ("role x: sees internal",)
    assert need_a_second_person(["role x: sees internal"], load_bundle().data) == ()


async def test_the_command_accepts_for_a_key_that_may_publish(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys, folder = key_store(load({}, home=home)), bundle(tmp_path / "wider", wider)
    tokens = {
        role: keys.create(name=role, tenant="default", roles=(role,), groups=(), capabilities=())[1]
        for role in ("policy_author", "auditor")
    }
    await proposed(home, folder, "key:one")
    digest, file = load_bundle(folder).digest, tmp_path / "key"

    def command(token: str) -> int:
        file.write_text(token)
        words = ("policy", "accept", digest, "--key-file", str(file), "--accept", OPENS, "--home", str(home))
        return run([*words])

    wrong = [await asyncio.to_thread(command, each) for each in (tokens["auditor"], "exk_wrong", "")]
    assert 0 not in wrong
    assert in_force(home) != digest
    assert await asyncio.to_thread(command, tokens["policy_author"]) == 0
    assert in_force(home) == digest
    assert "decides, in place of" in capsys.readouterr().out
