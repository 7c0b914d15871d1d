"""Checkpoints with a cosignature of the witness of seed 77..77, or with none that holds."""

from __future__ import annotations

import base64
from typing import Any

from ledger.notes.cosignature import MAX_TIMESTAMP_S, cosigned_message, witness_signing_key
from ledger.notes.note import SigningKey, checkpoint_text, sign_note
from tests.ledger_vectors import HEAD, KEY, MALFORMED, vectors

WITNESS = witness_signing_key("witness.example/w1", b"w" * 32)
SAME_NAME = witness_signing_key("witness.example/w1", b"s" * 32)
STRANGER = witness_signing_key("other.example/w", b"o" * 32)
TEXT = checkpoint_text(KEY.name, HEAD)
NOTE = sign_note(TEXT, [KEY])
TIME_S = 1_679_315_147
NOBODY = "nobody"
"""The verdict where the witness has not cosigned."""


def cosignatures() -> dict[str, Any]:
    """`note` is the checkpoint; the verdict is that on the witness's line."""
    data = _data()
    positive = {
        "plain": NOTE + _line(data),
        "at the largest time": NOTE + _line(_data(MAX_TIMESTAMP_S)),
        "beside those of others": NOTE + _line(_data(key=STRANGER), STRANGER.name) + _line(data),
    }
    unverified = {
        "time one later": data[:11] + bytes([data[11] ^ 1]) + data[12:],
        "time zero": data[:4] + bytes(8) + data[12:],
        "time beyond 63 bits": _data(2**63),
        "time of all ones": data[:4] + b"\xff" * 8 + data[12:],
        "little-endian time": data[:4] + data[11:3:-1] + data[12:],
        "time in milliseconds": data[:4] + (TIME_S * 1000).to_bytes(8, "big") + data[12:],
        "first bit of the signature": data[:12] + bytes([data[12] ^ 1]) + data[13:],
        "last bit of the signature": data[:-1] + bytes([data[-1] ^ 1]),
        "signature cut": data[:-1],
        "signature longer": data + b"\0",
        "no signature": data[:12],
        "no time": data[:4] + data[12:],
        "half a time": data[:8],
        "one byte": data[:5],
        "time behind the signature": data[:4] + data[12:] + data[4:12],
        "signature of zeros": data[:12] + bytes(64),
        "another key's under our id": data[:4] + _data(key=SAME_NAME)[4:],
        "the log's signature": data[:12] + KEY.private.sign(TEXT.encode()),
        "over another text": _data(message=cosigned_message(TEXT + "x\n", TIME_S)),
        "over the text alone": _data(message=TEXT.encode()),
        "over the text without its newline": _data(message=cosigned_message(TEXT, TIME_S)[:-1]),
        "over the whole note": _data(message=cosigned_message(NOTE, TIME_S)),
        "over another time": _data(message=cosigned_message(TEXT, TIME_S + 1)),
        "over a time with a leading zero": _data(message=cosigned_message(TEXT, TIME_S).replace(b"time ", b"time 0")),
        "with another header": _data(message=cosigned_message(TEXT, TIME_S).replace(b"/v1", b"/v2")),
        "without a header": _data(message=cosigned_message(TEXT, TIME_S).partition(b"\n")[2]),
        "with carriage returns": _data(message=cosigned_message(TEXT, TIME_S).replace(b"\n", b"\r\n")),
    }
    placed = {
        "a second line that does not hold": NOTE + _line(data) + _line(data[:-1] + bytes([data[-1] ^ 1])),
        "an empty line before it": NOTE + "\n" + _line(data),
    }
    nobody = {
        "none": NOTE,
        "of a stranger": NOTE + _line(_data(key=STRANGER), STRANGER.name),
        "of the same name": NOTE + _line(_data(key=SAME_NAME)),
        "under another name": NOTE + _line(data, "witness.example/w2"),
        "under another key id": NOTE + _line(bytes([data[0] ^ 1]) + data[1:]),
        "with a log's key id": NOTE + _line(SigningKey.from_seed(WITNESS.name, b"w" * 32).verifier.key_id + data[4:]),
    }
    line = _line(data)
    malformed = {
        "not base64": line.replace(line.split(" ")[2][:1], "?", 1),
        "without padding": line.replace("==\n", "\n"),
        "with one sign of padding": line.replace("==\n", "=\n"),
        "unused bits set": _line(data[:-1] + b"\0").replace("A==\n", "B==\n"),
        "URL-safe": f"— {WITNESS.name} {base64.urlsafe_b64encode(data + b'???').decode()}\n",
        "two spaces": line.replace("— ", "—  "),
        "hyphen": line.replace("—", "-"),
        "no newline": line[:-1],
        "carriage return": line[:-1] + "\r\n",
        "empty line after": line + "\n",
        "name with a space": _line(data, "a b"),
        "name with a no-break space": _line(data, "a\u00a0b"),
        "name with a plus": _line(data, "a+b"),
        "no name": _line(data, ""),
        "key id alone": _line(data[:4]),
    }
    negative = {
        MALFORMED: {name: NOTE + text for name, text in malformed.items()},
        "cosignature": {name: NOTE + _line(each) for name, each in unverified.items()} | placed,
        NOBODY: nobody,
    }
    return vectors("note", positive, negative)


def _data(timestamp_s: int = TIME_S, *, key: SigningKey = WITNESS, message: bytes | None = None) -> bytes:
    """Key id, time and signature."""
    message = cosigned_message(TEXT, timestamp_s) if message is None else message
    return key.verifier.key_id + timestamp_s.to_bytes(8, "big") + key.private.sign(message)


def _line(data: bytes, name: str = WITNESS.name) -> str:
    return f"— {name} {base64.b64encode(data).decode()}\n"
