"""A grounded answer as one file: the answer with its bundle, quotes, sources, decisions, provenance and receipts, and a
page that verifies it offline.

Every file of the package follows from its receipts, so that a package is checked by making it again from them, and two
packages of the same entry at the same checkpoint have the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.errors import NoSuchThing
from api.web.receipt_page import page_of_receipts
from ledger.entry.leaf import parse_leaf
from ledger.errors import MalformedNote, VerificationFailed
from ledger.ledger import Ledger
from ledger.model import Entry, Kind
from ledger.proofs.receipt import VerifiedReceipt, parse_receipt, verify_with_any
from ledger.provenance.document import prov_jsonld

VERSION = "exhibit.package/1"
MAX_PACKAGE_BYTES = 200_000_000
_OUTCOME, _INTENT, _VKEYS, _PAGE = "receipts/outcome.txt", "receipts/intent.txt", "log.vkey", "verify.html"
_README = """This is a recorded answer of Exhibit with everything that it rests on.

verify.html       open it in a browser: it verifies itself, without a network
question.txt      what was asked
answer.json       what was released
quotes.json       each sentence of the answer with the passages that it quotes
bundle.json       the evidence that was admitted, numbered as it is cited
sources/N.json    the slice that the marker [N] cites
policy.*.json     what was decided before the search, over the evidence and over the sentences, with every input
scope.json        the classes that were searched
prov.*            the provenance (W3C PROV)
receipts/         the proofs (C2SP tlog-proof) that all of the above is what was recorded, byte for byte
log.vkey          the log's verifier key; compare it with one that you have from elsewhere
manifest.json     the SHA-256 of every file

What is not disclosed, or was erased since, is not here. To check all of it:
exhibit ledger package --check FILE --vkey KEY
"""


@dataclass(frozen=True, slots=True)
class CheckedPackage:
    """A package that holds. `page_compared` is False where the page was made by another version of the software, so
    that nothing is said of it; what the page itself verifies in a browser does not depend on that."""

    outcome: VerifiedReceipt
    intent: VerifiedReceipt | None
    files: tuple[str, ...]
    page_compared: bool


async def package_of(entry: Entry, ledger: Ledger, *, parts: Collection[str], asked: Collection[str]) -> bytes:
    """The package of an outcome (zip) that discloses these parts of it and of its intent, as far as they are there.
    Raises NoSuchThing for an entry without an answer, CheckpointPending, LedgerUnavailable."""
    if entry.leaf.kind is not Kind.OUTCOME:
        raise NoSuchThing("Only an answer has a package.")
    stored = await ledger.part_names(entry.leaf.entry_id)
    if "answer" not in stored:
        raise NoSuchThing("The entry has no answer to show.")
    receipts = [await ledger.receipt(entry.leaf.entry_id, disclose=[name for name in stored if name in parts])]
    for ref in entry.leaf.refs:
        if ref.rel == "intent":
            names = [name for name in await ledger.part_names(ref.id) if name in asked]
            receipts.append(await ledger.receipt(ref.id, disclose=names))
    return _zipped(_files(receipts[0], receipts[1] if len(receipts) > 1 else None, vkeys=ledger.vkeys))


def check_package(data: bytes, *, vkeys: Sequence[str]) -> CheckedPackage:
    """Verify the receipts with these keys, make the package again from them, and compare every file. Raises
    MalformedNote for bytes that are no package, and VerificationFailed whose step is that of a receipt, or `package`
    with the file that differs."""
    files = _unzipped(data)
    try:
        outcome, listed = files[_OUTCOME].decode(), files[_VKEYS].decode().split()
        intent = files[_INTENT].decode() if _INTENT in files else None
    except (KeyError, UnicodeDecodeError):
        raise MalformedNote("the file is not a package: it has no receipt") from None
    proved = verify_with_any(outcome, vkeys=vkeys)
    asked = None if intent is None else verify_with_any(intent, vkeys=vkeys)
    if asked is not None and ("intent", asked.leaf.entry_id, asked.leaf_hash) not in {
        (ref.rel, ref.id, ref.leaf) for ref in proved.leaf.refs
    }:
        raise VerificationFailed("package", f"{_INTENT} is of another question")
    if not set(vkeys) & set(listed):
        raise VerificationFailed("package", f"{_VKEYS} does not name the key")
    made = _files(outcome, intent, vkeys=listed)
    if set(made) != set(files):
        odd = sorted(set(made) ^ set(files))
        raise VerificationFailed("package", f"{odd[0]} is {'missing' if odd[0] in made else 'not part of it'}")
    page_compared = made[_PAGE] == files[_PAGE]
    if not page_compared:
        made |= {_PAGE: files[_PAGE]}
        made["manifest.json"] = _manifest(outcome, intent, made)
    for name in sorted(made):
        if made[name] != files[name]:
            raise VerificationFailed("package", f"{name} is not what the receipts prove")
    return CheckedPackage(proved, asked, tuple(sorted(files)), page_compared)


def _files(outcome: str, intent: str | None, *, vkeys: Sequence[str]) -> dict[str, bytes]:
    """The files of a package, by name."""
    files = {
        "README.txt": _README.encode(),
        _VKEYS: "".join(f"{key}\n" for key in vkeys).encode(),
        _OUTCOME: outcome.encode(),
        _PAGE: page_of_receipts(outcome, intent, vkeys=vkeys).encode(),
    }
    if intent is not None:
        files[_INTENT] = intent.encode()
    for receipt in (outcome, intent):
        if receipt is None:
            continue
        opened = parse_receipt(receipt).disclosures
        files |= {_file_of(part.name): part.data for part in opened if part.data and part.name != "sources"}
    files["quotes.json"] = _json(_quotes(json.loads(files["answer.json"])))
    if "prov.json" in files:
        files["prov.jsonld"] = prov_jsonld(files["prov.json"]).encode()
    return files | {"manifest.json": _manifest(outcome, intent, files)}


def _file_of(part: str) -> str:
    return "question.txt" if part == "question" else f"{part}.json"


def _quotes(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each sentence with the quotes under it, each with the file of its source."""
    return [
        {
            "sentence": sentence["text"],
            "quotes": [
                {"n": cited["n"], "quote": cited["quote"], "source": f"sources/{cited['n']}.json"}
                for cited in sentence["citations"]
            ],
        }
        for sentence in answer.get("sentences") or ()
    ]


def _manifest(outcome: str, intent: str | None, files: Mapping[str, bytes]) -> bytes:
    entries = {
        name: parse_leaf(parse_receipt(receipt).leaf_bytes).entry_id
        for name, receipt in (("outcome", outcome), ("intent", intent))
        if receipt is not None
    }
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items() if name != "manifest.json"}
    return _json({"v": VERSION, "entries": entries, "sha256": digests})


def _json(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip that is the same for the same files: sorted, stored, without times (compression differs by library)."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), files[name])
    return data.getvalue()


def _unzipped(data: bytes) -> dict[str, bytes]:
    """The files of a zip that is no larger than a package may be, and nothing beside them. Raises MalformedNote."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            listed = archive.infolist()
            names = [each.filename for each in listed]
            if len(set(names)) != len(names) or sum(each.file_size for each in listed) > MAX_PACKAGE_BYTES:
                raise MalformedNote("the file is not a package: a name occurs in it twice, or it is too large")
            if listed and min(each.header_offset for each in listed) > 0:
                raise MalformedNote("the file is not a package: there is something before its archive")
            return {each.filename: archive.read(each) for each in listed}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError):
        raise MalformedNote("the file is not a package: it is not a whole zip archive") from None
