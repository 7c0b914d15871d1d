"""Writes the ledger's golden vectors: `python -m tests.ledger_vectors`. They define bytes that must never change, so a
difference after a run is a break of the format, not a vector to refresh."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import rfc8785

from ledger.ledger import Ledger
from ledger.model import PART_NAMES, Kind, TreeHead
from ledger.note import SigningKey, checkpoint_text, sign_note
from ledger.prov import ProvActivity, ProvAgent, ProvEntity, ProvFacts, prov_document
from tests.ledger_doubles import MemoryLedgerStore, open_ledger

FOLDER = Path(__file__).parent / "vectors" / "ledger"
KEY = SigningKey.from_seed("exhibit.example/log", bytes(range(32)))
OTHER = SigningKey.from_seed("other.example", b"o" * 32)
SAME_NAME = SigningKey.from_seed("exhibit.example/log", b"s" * 32)
HEAD = TreeHead(3, b"\x5a" * 32)

QUESTION = b"What was the population of Shawnee County in 1930?"
SOURCES = (b'{"row":89,"text":"Shawnee County,85200"}', b'{"text":"Topeka is the seat."}', b"\x00\xff not text")


def prov_facts() -> ProvFacts:
    """A small run: a gate, a channel, a generation."""
    digest = "ab" * 32
    return ProvFacts(
        run_id="req-1",
        answer=ProvEntity("answer", "Answer", {"commitment": digest}),
        entities=(
            ProvEntity("question", "Question", {"commitment": digest}),
            ProvEntity("source/1", "Source", {"commitment": digest}),
            ProvEntity("source/2", "Source", {"commitment": digest}),
        ),
        activities=(
            ProvActivity("activity/gate", "Gate", 1_000, 1_001, used=("question",), agents=("agent/software",)),
            ProvActivity(
                "activity/channel-graph",
                "Channel",
                1_001,
                1_005,
                used=("question",),
                agents=("agent/software",),
                informed_by=("activity/gate",),
            ),
            ProvActivity(
                "activity/generation",
                "Generation",
                1_005,
                1_009,
                used=("source/1", "source/2"),
                agents=("agent/model", "agent/software"),
                informed_by=("activity/channel-graph",),
                attributes={"template": "sha256:" + digest},
            ),
        ),
        agents=(
            ProvAgent("agent/principal", "Principal", is_person=True, attributes={"pseudonym": "0f" * 16}),
            ProvAgent("agent/model", "Model"),
            ProvAgent("agent/software", "Software", attributes={"version": "0.1.0"}),
        ),
        generated_by="activity/generation",
        derived_from=("source/1",),
        attributed_to=("agent/model",),
    )


async def record_golden(ledger: Ledger) -> list[str]:
    """One entry of every kind, the later ones referring to the first; the ids of the entries."""
    intent = await ledger.record(
        Kind.INTENT, tenant="default", request_id="req-1", parts={"question": QUESTION, "scope": b"[]"}
    )
    await ledger.checkpoint()
    outcome = await ledger.record(
        Kind.OUTCOME,
        tenant="default",
        request_id="req-1",
        parts={"answer": b'{"outcome":"ANSWER"}', "prov": prov_document(prov_facts())},
        sources=SOURCES,
        refs=[intent.as_ref("intent")],
    )
    ids = [intent.entry_id, outcome.entry_id]
    for kind in Kind:
        if kind not in (Kind.INTENT, Kind.OUTCOME):
            name = PART_NAMES[kind][0]
            refs = [outcome.as_ref("redacts")] if kind is Kind.REDACTION else []
            ref = await ledger.record(
                kind, tenant="other", request_id=f"req-{kind}", parts={name: b'{"x":1}'}, refs=refs
            )
            ids.append(ref.entry_id)
    return ids


async def golden() -> dict[str, Any]:
    """Every byte string that a fixed run of the ledger produces."""
    ledger = await open_ledger(MemoryLedgerStore())
    first = await ledger.checkpoint()
    ids = await record_golden(ledger)
    entries = await ledger.entries()
    checkpoint = await ledger.checkpoint()
    size = len(entries)
    return {
        "vkey": ledger.vkey,
        "leaves": [entry.leaf_bytes.decode() for entry in entries],
        "leaf_hashes": [entry.leaf_hash for entry in entries],
        "empty_checkpoint": first,
        "checkpoint": checkpoint,
        "receipts": {
            "intent, nothing disclosed": await ledger.receipt(ids[0], disclose=(), size=size),
            "intent, question": await ledger.receipt(ids[0], disclose=("question",), size=size),
            "outcome, answer and source 2": await ledger.receipt(ids[1], disclose=("answer", "sources/2"), size=size),
        },
        "prov": prov_document(prov_facts()).decode(),
    }


def notes() -> dict[str, Any]:
    """Checkpoints of the key of seed 00..1f: valid ones, malformed ones, and ones that do not verify."""
    text = checkpoint_text(KEY.name, HEAD)
    note = sign_note(text, [KEY])
    body, line = note.split("\n\n")
    dash, name, signature = line.rstrip("\n").split(" ")
    raw = base64.b64decode(signature)
    root = base64.b64encode(HEAD.root).decode()

    def resigned(new_text: str) -> str:
        return sign_note(new_text, [KEY])

    def signed_by(data: bytes, named: str = name) -> str:
        return f"{body}\n\n{dash} {named} {base64.b64encode(data).decode()}\n"

    valid = {
        "plain": note,
        "with another key's signature": sign_note(text, [OTHER, KEY]),
        "with another signature under the same name": sign_note(text, [KEY, SAME_NAME]),
    }
    malformed = {
        "empty": "",
        "only text": text,
        "no empty line": note.replace("\n\n", "\n"),
        "last line does not end": note[:-1],
        "ends with an empty line": note + "\n",
        "carriage returns": note.replace("\n", "\r\n"),
        "hyphen for the dash": note.replace("—", "-"),
        "en dash": note.replace("—", "–"),
        "no space after the dash": note.replace("— ", "—"),
        "two spaces after the dash": note.replace("— ", "—  "),
        "no name": f"{body}\n\n{dash} {signature}\n",
        "name with plus": note.replace(f"— {name}", "— a+b"),
        "name with no-break space": note.replace(f"— {name}", "— a\u00a0b"),
        "signature is not base64": f"{body}\n\n{dash} {name} !!!!\n",
        "signature is URL-safe base64": f"{body}\n\n{dash} {name} {base64.urlsafe_b64encode(raw + b'??>').decode()}\n",
        "signature without padding": note.replace("=\n", "\n") if signature.endswith("=") else note[:-2] + "\n",
        "signature too short": signed_by(raw[:4]),
        "text after the signature": note[:-1] + " more\n",
        "unparsable second signature": note + "— x\n",
        "tab in the text": resigned(text.replace("3\n", "3\n", 1)).replace("exhibit.example", "exhibit\t.example"),
        "NUL in the text": note.replace("exhibit.example", "exhibit\0.example", 1),
        "size with leading zero": resigned(f"{KEY.name}\n03\n{root}\n"),
        "size with plus": resigned(f"{KEY.name}\n+3\n{root}\n"),
        "negative size": resigned(f"{KEY.name}\n-3\n{root}\n"),
        "size in hex": resigned(f"{KEY.name}\n0x3\n{root}\n"),
        "size in Arabic digits": resigned(f"{KEY.name}\n٣\n{root}\n"),
        "size with underscore": resigned(f"{KEY.name}\n1_0\n{root}\n"),
        "size with space": resigned(f"{KEY.name}\n3 \n{root}\n"),
        "size beyond 63 bits": resigned(f"{KEY.name}\n9223372036854775808\n{root}\n"),
        "no root": resigned(f"{KEY.name}\n3\n"),
        "empty size": resigned(f"{KEY.name}\n\n{root}\n"),
        "root too short": resigned(f"{KEY.name}\n3\n{base64.b64encode(HEAD.root[:31]).decode()}\n"),
        "root too long": resigned(f"{KEY.name}\n3\n{base64.b64encode(HEAD.root + b'x').decode()}\n"),
        "root in hex": resigned(f"{KEY.name}\n3\n{HEAD.root.hex()}\n"),
        "root not canonical": resigned(f"{KEY.name}\n3\n{root[:-2]}p=\n"),
        "root without padding": resigned(f"{KEY.name}\n3\n{root[:-1]}\n"),
        "empty extension line": resigned(text + "\nx\n"),
    }
    unverified = {
        "by another key": (sign_note(text, [OTHER]), "signature"),
        "by another key of the same name": (sign_note(text, [SAME_NAME]), "signature"),
        "by another key under our key id": (
            signed_by(raw[:4] + base64.b64decode(sign_note(text, [SAME_NAME]).split(" ")[-1])[4:]),
            "signature",
        ),
        "size changed": (note.replace("\n3\n", "\n4\n"), "signature"),
        "origin changed": (note.replace("exhibit.example/log\n", "exhibit.example/lag\n", 1), "signature"),
        "root changed": (note.replace("Wlpa", "Wlpb", 1), "signature"),
        "extension added": (note.replace("\n\n", "\nmore\n\n"), "signature"),
        "signature bit flipped": (signed_by(raw[:-1] + bytes([raw[-1] ^ 1])), "signature"),
        "signature cut": (signed_by(raw[:-1]), "signature"),
        "signature longer": (signed_by(raw + b"\0"), "signature"),
        "two empty lines": (note.replace("\n\n", "\n\n\n"), "signature"),
        "key id flipped": (signed_by(bytes([raw[0] ^ 1]) + raw[1:]), "signature"),
        "signature of zeros": (signed_by(raw[:4] + bytes(64)), "signature"),
        "another log's checkpoint under our key": (resigned(checkpoint_text("another.example", HEAD)), "origin"),
        "origin with other case": (resigned(checkpoint_text("Exhibit.example/log", HEAD)), "origin"),
    }
    vkey = str(KEY.verifier)
    key_name, key_id, public = vkey.split("+", 2)
    ecdsa = base64.b64encode(bytes([2]) + base64.b64decode(public)[1:]).decode()
    bad_vkeys = {
        "empty": "",
        "name alone": key_name,
        "no key": f"{key_name}+{key_id}+",
        "no name": f"+{key_id}+{public}",
        "name with space": f"a b+{key_id}+{public}",
        "another name": f"other+{key_id}+{public}",
        "id in capitals": f"{key_name}+{key_id.upper()}+{public}",
        "id too short": f"{key_name}+{key_id[1:]}+{public}",
        "id of another key": f"{key_name}+00000000+{public}",
        "key cut": f"{key_name}+{key_id}+{public[:-4]}",
        "key not base64": f"{key_name}+{key_id}+{public[:-1]}*",
        "another algorithm": f"{key_name}+{key_id}+{ecdsa}",
        "trailing newline": vkey + "\n",
        "private key": KEY.encode(),
    }
    return {
        "valid": [{"name": key, "note": value} for key, value in valid.items()],
        "malformed": [{"name": key, "note": value} for key, value in malformed.items()],
        "unverified": [{"name": key, "note": value, "step": step} for key, (value, step) in unverified.items()],
        "bad_vkeys": [{"name": key, "vkey": value} for key, value in bad_vkeys.items()],
    }


def receipts(vectors: dict[str, Any]) -> dict[str, Any]:
    """From the golden receipt of the outcome: texts that are no receipt, and receipts that do not verify, with
    the step that fails."""
    text: str = vectors["receipts"]["outcome, answer and source 2"]
    header, extra_line, index_line, *rest = text.split("\n")
    gap = rest.index("")
    hashes, checkpoint = rest[:gap], "\n".join(rest[gap + 1 :])
    extra = json.loads(base64.b64decode(extra_line.removeprefix("extra ")))
    other = json.loads(base64.b64decode(vectors["receipts"]["intent, question"].split("\n")[1].removeprefix("extra ")))

    def build(new_extra: Any = None, *, index: str = index_line, proof: list[str] | None = None, note: str = "") -> str:
        data = new_extra if isinstance(new_extra, bytes) else rfc8785.dumps(new_extra or extra)
        proof = hashes if proof is None else proof
        lines = [header, "extra " + base64.b64encode(data).decode(), index, *proof, ""]
        return "\n".join(lines) + "\n" + (note or checkpoint)

    def disclosing(*items: dict[str, str]) -> str:
        return build(extra | {"disclosures": list(items)})

    def b64(data: bytes) -> str:
        return base64.b64encode(data).decode()

    def changed(i: int, **fields: str) -> str:
        items = [dict(item) for item in extra["disclosures"]]
        items[i] |= fields
        return build(extra | {"disclosures": items})

    answer, array, source = extra["disclosures"]
    zero = b64(bytes(32))
    malformed = {
        "empty": "",
        "header alone": header + "\n",
        "another version": text.replace("@v1", "@v2"),
        "header in capitals": text.replace("c2sp.org", "C2SP.org", 1),
        "leading space": " " + text,
        "carriage returns": text.replace("\n", "\r\n"),
        "no extra": text.replace(extra_line + "\n", ""),
        "extra twice": text.replace(extra_line, extra_line + "\n" + extra_line),
        "extra is not base64": text.replace(extra_line, "extra ####"),
        "extra without padding": build(json.dumps(extra).encode() + b" " * 2).replace("=", "", 1),
        "extra is no JSON": build(b"hello"),
        "extra is no object": build(b"[]"),
        "extra not canonical": build(json.dumps(extra).encode()),
        "extra with a key twice": build(rfc8785.dumps(extra).replace(b'"v":', b'"v":"x","v":')),
        "extra of another version": build(extra | {"v": "exhibit.receipt/2"}),
        "extra with more": build(extra | {"more": 1}),
        "extra without leaf": build({key: value for key, value in extra.items() if key != "leaf"}),
        "leaf is no text": build(extra | {"leaf": 1}),
        "disclosures is an object": build(extra | {"disclosures": {}}),
        "disclosure is no object": build(extra | {"disclosures": ["answer"]}),
        "disclosure with more": disclosing(answer | {"x": "y"}),
        "disclosure without salt": disclosing({"name": "answer", "bytes": answer["bytes"]}),
        "salt too short": changed(0, salt=b64(b"short")),
        "salt in hex": changed(0, salt="00" * 32),
        "bytes not base64": changed(0, bytes="?"),
        "name not ASCII": changed(0, name="ànswer"),
        "disclosures out of order": disclosing(array, answer, source),
        "disclosure twice": disclosing(answer, answer),
        "no index": text.replace(index_line + "\n", ""),
        "index with leading zero": build(index="index 01"),
        "index negative": build(index="index -1"),
        "index with two spaces": build(index="index  1"),
        "index too large": build(index="index 99999999999999999999"),
        "index in Arabic digits": build(index="index ١"),
        "proof hash too short": build(proof=[b64(b"x" * 31), *hashes[1:]]),
        "proof hash not base64": build(proof=["?", *hashes[1:]]),
        "proof hash with spaces": build(proof=[" " + hashes[0], *hashes[1:]]),
        "sixty-four hashes": build(proof=hashes[:1] * 64),
        "no empty line": text.replace("\n\n", "\n", 1),
        "no checkpoint": build(note="\n"),
        "checkpoint without signature": build(note=checkpoint.split("\n\n")[0] + "\n"),
        "checkpoint of size 07": build(note=resize(checkpoint, "07")),
    }
    unverified = {
        "checkpoint of another size": (build(note=resize(checkpoint, "8")), "signature"),
        "earlier checkpoint": (build(note=vectors["empty_checkpoint"]), "inclusion-proof"),
        "another index": (build(index="index 0"), "inclusion-proof"),
        "index beyond the tree": (build(index="index 7"), "inclusion-proof"),
        "a hash changed": (build(proof=[zero, *hashes[1:]]), "inclusion-proof"),
        "the last hash changed": (build(proof=[*hashes[:-1], zero]), "inclusion-proof"),
        "a hash missing": (build(proof=hashes[1:]), "inclusion-proof"),
        "a hash too many": (build(proof=[*hashes, zero]), "inclusion-proof"),
        "hashes swapped": (build(proof=[hashes[1], hashes[0], *hashes[2:]]), "inclusion-proof"),
        "no hashes": (build(proof=[]), "inclusion-proof"),
        "another leaf": (build(extra | {"leaf": other["leaf"]}), "inclusion-proof"),
        "leaf changed": (
            build(extra | {"leaf": b64(base64.b64decode(extra["leaf"]).replace(b'"local"', b'"lokal"'))}),
            "inclusion-proof",
        ),
        "answer changed": (changed(0, bytes=b64(b'{"outcome":"DENY"}')), "commitment"),
        "answer emptied": (changed(0, bytes=""), "commitment"),
        "salt changed": (changed(0, salt=zero), "commitment"),
        "answer under another name": (disclosing(answer | {"name": "bundle"}), "commitment"),
        "part of another kind": (disclosing(*other["disclosures"]), "commitment"),
        "unknown part": (disclosing(answer | {"name": "anything"}), "commitment"),
        "source changed": (changed(2, bytes=b64(b"forged")), "sources"),
        "source renumbered": (disclosing(answer, array, source | {"name": "sources/1"}), "sources"),
        "source beyond the last": (disclosing(answer, array, source | {"name": "sources/4"}), "sources"),
        "source without the array": (disclosing(answer, source), "sources"),
        "source 0": (disclosing(answer, array, source | {"name": "sources/0"}), "commitment"),
        "source 02": (disclosing(answer, array, source | {"name": "sources/02"}), "commitment"),
        "array changed": (changed(1, bytes=b64(b"[]")), "commitment"),
    }
    return {
        "malformed": [{"name": key, "text": value} for key, value in malformed.items()],
        "unverified": [{"name": key, "text": value, "step": step} for key, (value, step) in unverified.items()],
    }


def resize(checkpoint: str, size: str) -> str:
    """The checkpoint's text with another size, its signature left as it was."""
    origin, _, rest = checkpoint.split("\n", 2)
    return f"{origin}\n{size}\n{rest}"


def write() -> None:
    """Write all vectors."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    vectors = asyncio.run(golden())
    for name, content in (("golden", vectors), ("notes", notes()), ("receipts", receipts(vectors))):
        (FOLDER / f"{name}.json").write_text(json.dumps(content, indent=1, ensure_ascii=True) + "\n")


if __name__ == "__main__":
    write()
