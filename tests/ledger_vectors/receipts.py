"""From the golden receipt of an outcome: texts that are no receipt, and receipts that do not verify."""

from __future__ import annotations

import base64
import json
from typing import Any

import rfc8785

from tests.ledger_vectors import MALFORMED, vectors


def receipts(vectors_of: dict[str, Any]) -> dict[str, Any]:
    """From the golden receipt of the outcome: texts that are no receipt, and receipts that do not verify, with
    the step that fails."""
    text: str = vectors_of["receipts"]["outcome, answer and source 2"]
    header, extra_line, index_line, *rest = text.split("\n")
    gap = rest.index("")
    hashes, checkpoint = rest[:gap], "\n".join(rest[gap + 1 :])
    extra = json.loads(base64.b64decode(extra_line.removeprefix("extra ")))
    other = json.loads(
        base64.b64decode(vectors_of["receipts"]["intent, question"].split("\n")[1].removeprefix("extra "))
    )

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
    packed = rfc8785.dumps(extra)
    nested = packed.replace(b'"v":', b'"a":' + b"[" * 5_000 + b"]" * 5_000 + b',"v":', 1)
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
        "checkpoint of a size beyond 63 bits": build(note=resize(checkpoint, str(2**63))),
        "index beyond 63 bits": build(index=f"index {2**63}"),
        "index of nineteen nines": build(index="index " + "9" * 19),
        "index with a space behind it": build(index=index_line + " "),
        "index in hex": build(index="index 0x1"),
        "index behind the hashes": build(index=hashes[0], proof=[index_line, *hashes[1:]]),
        "index without a number": build(index="index "),
        "an empty line before the index": text.replace("index ", "\nindex ", 1),
        "an empty line in the proof": build(proof=[*hashes[:1], "", *hashes[1:]]),
        "two empty lines before the checkpoint": text.replace("\n\n", "\n\n\n", 1),
        "proof hash too long": build(proof=[b64(b"x" * 33), *hashes[1:]]),
        "proof hash with unused bits": build(proof=[hashes[0][:-2] + chr(ord(hashes[0][-2]) + 1) + "=", *hashes[1:]]),
        "proof hash in URL-safe base64": build(proof=["-" * 42 + "8=", *hashes[1:]]),
        "proof hash without padding": build(proof=[hashes[0][:-1], *hashes[1:]]),
        "proof hash in hex": build(proof=["00" * 32, *hashes[1:]]),
        "byte order mark": "\ufeff" + text,
        "newline behind the checkpoint": text + "\n",
        "last newline missing": text[:-1],
        "tab behind the header": text.replace(header, header + "\t", 1),
        "extra in capitals": text.replace("extra ", "Extra ", 1),
        "extra is empty": text.replace(extra_line, "extra ", 1),
        "extra with two spaces": text.replace("extra ", "extra  ", 1),
        "extra nested too deep": build(nested),
        "extra with a lone surrogate": build(packed.replace(b'"name":"answer"', b'"name":"\\ud800"', 1)),
        "extra with an escaped letter": build(packed.replace(b'"answer"', b'"\\u0061nswer"', 1)),
        "extra not UTF-8": build(packed.replace(b"answer", b"\xffnswer", 1)),
        "extra with a newline behind it": build(packed + b"\n"),
        "extra with a number beyond a float": build(packed.replace(b'"v":', b'"a":1e400,"v":', 1)),
        "extra with minus zero": build(packed.replace(b'"v":', b'"a":-0,"v":', 1)),
        "extra with a key twice in a disclosure": build(packed.replace(b'"name":', b'"name":"x","name":', 1)),
        "disclosures is null": build(extra | {"disclosures": None}),
        "leaf not canonical base64": build(extra | {"leaf": extra["leaf"] + "\n"}),
        "name is no text": build(extra | {"disclosures": [answer | {"name": 1}]}),
        "salt is null": build(extra | {"disclosures": [answer | {"salt": None}]}),
    }
    unverified = {
        "checkpoint of another size": (build(note=resize(checkpoint, "8")), "signature"),
        "earlier checkpoint": (build(note=vectors_of["empty_checkpoint"]), "inclusion-proof"),
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
    steps = {
        step: {name: text for name, (text, at) in unverified.items() if at == step} for _, step in unverified.values()
    }
    return vectors("text", vectors_of["receipts"], {MALFORMED: malformed} | steps)


def resize(checkpoint: str, size: str) -> str:
    """The checkpoint's text with another size, its signature left as it was."""
    origin, _, rest = checkpoint.split("\n", 2)
    return f"{origin}\n{size}\n{rest}"
