"""The demonstration: what is asked, what must be seen, and the checks that can fail. `exhibit demo` prints it."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cattrs

from ai.focus_pipeline import answer
from ai.model import Outcome
from api.audit.entries.records import disclosures
from api.errors import ExpectationFailed, NoSuchThing
from api.home.configuration import Configuration
from api.home.identity.local_caller import local_subject
from api.schemas.ask import ask_of, parse_query
from api.wiring import System, new_id, open_ledger
from ledger.model import VerifyReport
from ledger.proofs.receipt import VerifiedReceipt, verify_receipt
from retrieval.model import ChannelName

HIDDEN_SOURCES = frozenset({"cody-life", "kansas-narratives"})


@dataclass(frozen=True, slots=True)
class Scene:
    """One question and what must come of it. `only` asks one channel alone; `says` must stand in the answer; `cites`
    is the source that must be cited; `code` must be among reasons or limitations."""

    shows: str
    question: str
    outcome: Outcome
    says: str = ""
    cites: str = ""
    code: str = ""
    operation: str = ""
    role: str = "public_viewer"
    collections: tuple[str, ...] = ()
    only: ChannelName | None = None


def _scenes() -> tuple[Scene, ...]:
    listed = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["scene"]
    return cattrs.Converter(forbid_extra_keys=True).structure(listed, tuple[Scene, ...])


SCENES = _scenes()


def sample_corpus() -> Path:
    """The folder of the sample corpus: in the installed package, else in the checkout. Raises NoSuchThing."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_examples" / "kansas", package.parent / "examples" / "kansas"):
        if (folder / "manifest.toml").is_file():
            return folder
    raise NoSuchThing("the sample corpus is not installed; clone the repository and run the demo there")


async def play(scene: Scene, system: System) -> dict[str, Any]:
    """Ask a scene's question and return the body. Raises ExpectationFailed when it is not what must be seen."""
    request = {"question": scene.question, "options": {"collections": list(scene.collections)}}
    subject = local_subject(system.data, role=scene.role, groups=None, tenant="default")
    profile = system.profile("focus")
    if scene.only is not None:
        profile = replace(profile, channels=(scene.only,))
    ask = ask_of(parse_query(request), subject=subject, request_id=new_id())
    answered = await answer(ask, services=system.services, profile=profile)
    body = dict(answered.body)
    check(scene, body)
    return body


def check(scene: Scene, body: Mapping[str, Any]) -> None:
    """Raise ExpectationFailed unless the body is what the scene must show."""
    cited = {citation["source_id"] for citation in body["citations"].values()}
    channels = {channel for item in body["evidence"] if item["cited"] for channel in item["rank"]}
    operations = {c["computed"]["operation"] for c in body["citations"].values() if c["computed"]}
    codes = {*body["reason_codes"], *(limitation["code"] for limitation in body["limitations"])}
    wrong = [
        (body["outcome"] != scene.outcome, f"outcome {body['outcome']}, not {scene.outcome}"),
        (scene.says not in body["answer"], f"the answer does not say {scene.says!r}"),
        (bool(scene.cites) and scene.cites not in cited, f"{scene.cites} is not cited"),
        (bool(scene.operation) and scene.operation not in operations, f"no {scene.operation} was computed"),
        (bool(scene.code) and scene.code not in codes, f"no {scene.code}"),
        (
            scene.only is not None and channels != {scene.only},
            f"evidence of {sorted(channels)}, not of {scene.only} alone",
        ),
        (scene.outcome is Outcome.ANSWER and not body["citations"], "an answer without a citation"),
    ]
    for failed, what in wrong:
        if failed:
            raise ExpectationFailed(f"{scene.shows}: {what}")


def without_identity(body: Mapping[str, Any]) -> dict[str, Any]:
    """A body without ids, times and receipt, its own entry's in links included: what hidden documents must not
    change."""
    kept = {name: value for name, value in body.items() if name not in ("request_id", "timings_ms", "promise")}
    provenance = {name: value for name, value in body["provenance"].items() if name not in ("entry_id", "receipt")}
    told = json.dumps(kept | {"provenance": provenance}).replace(body["provenance"]["entry_id"], "")
    found: dict[str, Any] = json.loads(told)
    return found


async def check_receipt(body: Mapping[str, Any], system: System) -> VerifiedReceipt:
    """The receipt of an answer, verified with nothing but its text and the log's key. Raises VerificationFailed,
    ExpectationFailed."""
    ledger = system.services.ledger
    entry = await ledger.entry(body["provenance"]["entry_id"])
    text = await ledger.receipt(entry.leaf.entry_id, disclose=await disclosures(entry, ledger))
    verified = verify_receipt(text, vkey=ledger.vkey)
    if body["answer"].encode() not in _plain(verified.parts["answer"]):
        raise ExpectationFailed("the receipt does not disclose the answer that was given")
    return verified


async def tampered(configuration: Configuration, folder: Path) -> tuple[VerifyReport, int]:
    """Flip one bit of one recorded leaf in a copy of the closed ledger, and verify the copy. Returns the report and
    the leaf's index."""
    home = configuration.home
    shutil.copytree(home / "keys", folder / "keys")
    shutil.copy2(home / "ledger.sqlite", folder / "ledger.sqlite")
    copy = replace(configuration, home=folder)
    async with open_ledger(copy) as ledger:
        victim = (await ledger.entries(limit=5))[-1]
    file = folder / "ledger.sqlite"
    data = bytearray(file.read_bytes())
    place = data.find(victim.leaf_bytes)
    if place < 0:
        raise ExpectationFailed("the leaf was not found in the copy of the ledger")
    data[place + len(victim.leaf_bytes) // 2] ^= 1
    file.write_bytes(data)
    async with open_ledger(copy) as ledger:
        return await ledger.verify(), victim.index


def public_manifest(source: Path, target: Path) -> Path:
    """A copy of the sample corpus without the sources that a public viewer may not see; returns its manifest."""
    text = (source / "manifest.toml").read_text("utf-8")
    head, *blocks = text.split("[[source]]\n")
    kept = [
        block
        for block in blocks
        if tomllib.loads("[[source]]\n" + block)["source"][0]["source_id"] not in HIDDEN_SOURCES
    ]
    shutil.copytree(source, target, dirs_exist_ok=True)
    manifest = target / "manifest.toml"
    manifest.write_text("[[source]]\n".join([head, *kept]), "utf-8")
    return manifest


def _plain(part: bytes) -> bytes:
    """The bytes of a canonical JSON part with its escapes undone, to look for text in."""
    return str(json.loads(part)["answer"]).encode()
