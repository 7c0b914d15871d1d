"""Verifier keys, signed notes, and the checkpoints that are their text; all are of the key of seed 00..1f."""

from __future__ import annotations

import base64
from typing import Any

from ledger.notes.note import VerifierKey, checkpoint_text, sign_note, signature_line
from tests.ledger_vectors import HEAD, KEY, MALFORMED, OTHER, SAME_NAME, vectors

PROSE = "If you think that cryptography is the answer,\n\nè \x7f \u2028 𝄞\n"
VKEY = str(KEY.verifier)


def vkeys() -> dict[str, Any]:
    """Verifier keys as text."""
    name, key_id, public = VKEY.split("+", 2)
    raw = base64.b64decode(public)

    def of_type(kind: int, data: bytes = raw[1:]) -> str:
        return str(VerifierKey(name, data, bytes([kind])))

    def named(other: str) -> str:
        return str(VerifierKey(other, raw[1:]))

    malformed = {
        "empty": "",
        "name alone": name,
        "no key": f"{name}+{key_id}+",
        "no id": f"{name}++{public}",
        "no name": named(""),
        "name with space": named("a b"),
        "name with no-break space": named("a\u00a0b"),
        "name with ideographic space": named("a\u3000b"),
        "name with next line": named("a\u0085b"),
        "name with tab": named("a\tb"),
        "name with newline": named("a\nb"),
        "name with plus": named("a+b"),
        "another name": f"other+{key_id}+{public}",
        "id in capitals": f"{name}+{key_id.upper()}+{public}",
        "id too short": f"{name}+{key_id[1:]}+{public}",
        "id too long": f"{name}+0{key_id}+{public}",
        "id of another key": f"{name}+00000000+{public}",
        "id in full-width digits": f"{name}+{key_id.replace('4', '４')}+{public}",
        "key cut": f"{name}+{key_id}+{public[:-4]}",
        "key of 31 bytes": of_type(1, raw[1:-1]),
        "key of 33 bytes": of_type(1, raw[1:] + b"\0"),
        "key without its type": f"{name}+{key_id}+{base64.b64encode(raw[1:]).decode()}",
        "key not base64": f"{name}+{key_id}+{public[:-1]}*",
        "key in URL-safe base64": f"{name}+{key_id}+{public.replace('/', '_')}",
        "key in hex": f"{name}+{key_id}+{raw.hex()}",
        "ECDSA": of_type(2),
        "a type that nobody assigned": of_type(3),
        "a cosignature key": of_type(4),
        "an RFC 6962 tree head's key": of_type(5),
        "no type": of_type(0),
        "trailing newline": VKEY + "\n",
        "trailing space": VKEY + " ",
        "leading space": " " + VKEY,
        "byte order mark": "\ufeff" + f"+{key_id}+{public}",
        "two keys": VKEY + "\n" + VKEY,
        "private key": KEY.encode(),
    }
    return vectors("vkey", {"Ed25519": VKEY}, {MALFORMED: malformed})


def notes() -> dict[str, Any]:
    """Notes of any text."""
    note, line = sign_note(PROSE, [KEY]), _line(PROSE)
    positive = {
        "plain": note,
        "with a signature of an unknown key": sign_note(PROSE, [OTHER, KEY]),
        "with a signature under the same name": sign_note(PROSE, [KEY, SAME_NAME]),
        "signed twice": note + line,
    }
    return vectors("note", positive, {MALFORMED: _no_notes(note, line, PROSE), "signature": _unsigned(note, PROSE)})


def checkpoints() -> dict[str, Any]:
    """Checkpoints of size 3 of the log that the key names."""
    text, root = checkpoint_text(KEY.name, HEAD), base64.b64encode(HEAD.root).decode()
    note = sign_note(text, [KEY])

    def of(size: str, origin: str = KEY.name, hash: str = root, more: str = "") -> str:
        return sign_note(f"{origin}\n{size}\n{hash}\n{more}", [KEY])

    malformed = _no_notes(note, _line(text), text) | {
        "size with leading zero": of("03"),
        "size of two zeros": of("00", hash="47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
        "size with plus": of("+3"),
        "negative size": of("-3"),
        "size in hex": of("0x3"),
        "size with exponent": of("3e0"),
        "size with a point": of("3.0"),
        "size in Arabic digits": of("٣"),
        "size in full-width digits": of("３"),
        "superscript size": of("³"),
        "size with underscore": of("1_0"),
        "size with space behind": of("3 "),
        "size with space before": of(" 3"),
        "size with no-break space": of("3\u00a0"),
        "size beyond 63 bits": of(str(2**63)),
        "size beyond 64 bits": of(str(2**64)),
        "size of forty digits": of("1" * 40),
        "empty size": of(""),
        "empty origin": of("3", origin=""),
        "empty root": of("3", hash=""),
        "no root": sign_note(f"{KEY.name}\n3\n", [KEY]),
        "origin alone": sign_note(f"{KEY.name}\n", [KEY]),
        "an empty line before it": sign_note("\n" + text, [KEY]),
        "root too short": of("3", hash=base64.b64encode(HEAD.root[:31]).decode()),
        "root too long": of("3", hash=base64.b64encode(HEAD.root + b"x").decode()),
        "root in hex": of("3", hash=HEAD.root.hex()),
        "root with unused bits": of("3", hash=root[:-2] + "p="),
        "root without padding": of("3", hash=root[:-1]),
        "root in URL-safe base64": of("3", hash="_" * 42 + "8="),
        "root with a space": of("3", hash=root + " "),
        "root of size 0 is not that of nothing": of("0"),
        "empty extension line": of("3", more="\nx\n"),
        "empty line at the end": of("3", more="\n"),
        "size and root in another order": of(root, hash="3"),
    }
    origin = {
        "another log's checkpoint under our key": sign_note(checkpoint_text("another.example", HEAD), [KEY]),
        "origin with other case": of("3", origin=KEY.name.capitalize()),
        "origin with a slash behind": of("3", origin=KEY.name + "/"),
        "origin with a space behind": of("3", origin=KEY.name + " "),
        "origin with a look-alike": of("3", origin=KEY.name.replace("e", "е", 1)),
        "origin with a byte order mark": of("3", origin="\ufeff" + KEY.name),
    }
    unsigned = _unsigned(note, text) | {
        "size changed": note.replace("\n3\n", "\n4\n"),
        "origin changed": note.replace("/log\n", "/lag\n", 1),
        "root changed": note.replace("Wlpa", "Wlpb", 1),
        "extension added": note.replace("\n\n", "\nmore\n\n"),
        "extension taken away": of("3", more="more\n").replace("more\n", "", 1),
    }
    positive = {
        "plain": note,
        "with another key's signature": sign_note(text, [OTHER, KEY]),
        "with another signature under the same name": sign_note(text, [KEY, SAME_NAME]),
        "with an extension line": of("3", more="a line of \u00a0 its own\n"),
    }
    return vectors("note", positive, {MALFORMED: malformed, "signature": unsigned, "origin": origin})


def _line(text: str) -> str:
    """The signature line of the key."""
    return signature_line(KEY.verifier, KEY.private.sign(text.encode())) + "\n"


def _no_notes(note: str, line: str, text: str) -> dict[str, str]:
    """What no note can be, made of one."""
    body = note.removesuffix(line)
    _, name, encoded = line.rstrip("\n").split(" ")
    raw = base64.b64decode(encoded)

    def signed(by: str = name, with_: str = encoded, dash: str = "—") -> str:
        return f"{body}{dash} {by} {with_}\n"

    def beside(other: str) -> str:
        return f"{note}— {other}\n"

    return {
        "empty": "",
        "only text": text,
        "only a signature": line,
        "an empty line and a signature": "\n" + line,
        "no empty line": body[:-1] + line,
        "no signature": body,
        "last line does not end": note[:-1],
        "ends with an empty line": note + "\n",
        "text after the signature": note[:-1] + " more\n",
        "space after the signature": note[:-1] + " \n",
        "carriage returns": note.replace("\n", "\r\n"),
        "a carriage return in the text": note.replace("\n", "\r\n", 1),
        "a carriage return behind the signature": note[:-1] + "\r\n",
        "a tab in the text": "a\t" + note,
        "a NUL in the text": "\0" + note,
        "an escape in the text": "\x1b" + note,
        "a form feed in the text": "\x0c" + note,
        "a lone surrogate in the text": "\ud800" + note,
        "hyphen for the dash": signed(dash="-"),
        "en dash": signed(dash="–"),
        "horizontal bar": signed(dash="―"),
        "no space after the dash": note.replace("— ", "—"),
        "two spaces after the dash": note.replace("— ", "—  "),
        "no-break space after the dash": note.replace("— ", "—\u00a0"),
        "a space before the dash": body + " " + line,
        "no name": f"{body}— {encoded}\n",
        "empty name": signed(""),
        "name with plus": signed("a+b"),
        "name with tab": signed("a\tb"),
        "name with no-break space": signed("a\u00a0b"),
        "name with next line": signed("a\u0085b"),
        "name with line separator": signed("a\u2028b"),
        "name with ideographic space": signed("a\u3000b"),
        "name with em space": signed("a\u2003b"),
        "name with ogham space": signed("a\u1680b"),
        "no base64": signed(with_="!!!!"),
        "no signature behind the name": f"{body}— {name}\n",
        "empty signature": signed(with_=""),
        "URL-safe base64": signed(with_=base64.urlsafe_b64encode(raw + b"??>").decode()),
        "without padding": signed(with_=encoded.rstrip("=")),
        "too much padding": signed(with_=encoded + "="),
        "unused bits": signed(with_=base64.b64encode(raw[:5] + b"\0\0").decode()[:-2] + "B="),
        "a newline in the base64": signed(with_=encoded[:8] + "\n" + encoded[8:]),
        "a space in the base64": signed(with_=encoded[:8] + " " + encoded[8:]),
        "full-width base64": signed(with_=encoded.replace("A", "Ａ").replace("a", "ａ")),
        "a key id alone": signed(with_=base64.b64encode(raw[:4]).decode()),
        "three bytes": signed(with_=base64.b64encode(raw[:3]).decode()),
        "unparsable second signature": beside("x"),
        "second signature with a bad name": beside("a+b AAAAAAA="),
        "second signature with a control character": beside("a\x1fb AAAAAAA="),
        "second signature too short": beside("x AAAAAA=="),
        "second signature with unused bits": beside("x AAAAAAB="),
        "a hundred and one signatures": note + line * 100,
    }


def _unsigned(note: str, text: str) -> dict[str, str]:
    """Notes whose signature of the key is not there or does not hold."""
    body = note.partition("—")[0]
    raw = KEY.verifier.key_id + KEY.private.sign(text.encode())

    def signed(data: bytes, by: VerifierKey = KEY.verifier) -> str:
        return f"{body}{signature_line(by, data[4:]) if data[:4] == by.key_id else _raw(by.name, data)}\n"

    def flipped(at: int) -> bytes:
        return raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]

    as_cosigner = VerifierKey(KEY.name, KEY.verifier.public, b"\x04")
    return {
        "by another key": sign_note(text, [OTHER]),
        "by another key of the same name": sign_note(text, [SAME_NAME]),
        "by another key under our key id": signed(raw[:4] + SAME_NAME.private.sign(text.encode())),
        "by our key under another name": f"{body}{_raw('other.example', raw)}\n",
        "by our key under another key id": signed(flipped(0)),
        "by our key of another type": f"{body}{signature_line(as_cosigner, raw[4:])}\n",
        "by our key under a name with an invisible space": f"{body}{_raw(KEY.name + chr(0x200B), raw)}\n",
        "first bit of the signature": signed(flipped(4)),
        "a bit of R": signed(flipped(20)),
        "a bit of S": signed(flipped(50)),
        "last bit of the signature": signed(flipped(67)),
        "S not reduced": signed(raw[:36] + _plus_order(raw[36:])),
        "signature cut": signed(raw[:-1]),
        "signature longer": signed(raw + b"\0"),
        "signature of one byte": signed(raw[:5]),
        "signature of zeros": signed(raw[:4] + bytes(64)),
        "signature twice in one line": signed(raw + raw[4:]),
        "over the text without its newline": signed(raw[:4] + KEY.private.sign(text[:-1].encode())),
        "over the text with the empty line": signed(raw[:4] + KEY.private.sign(text.encode() + b"\n")),
        "over nothing": signed(raw[:4] + KEY.private.sign(b"")),
        "text with a letter more": "x" + note,
        "text with a space before its end": note.replace("\n\n—", " \n\n—"),
        "an empty line more": note.replace("\n\n—", "\n\n\n—"),
        "a second signature of our key that does not hold": note + _raw(KEY.name, flipped(30)) + "\n",
    }


def _raw(name: str, data: bytes) -> str:
    return f"— {name} {base64.b64encode(data).decode()}"


def _plus_order(s: bytes) -> bytes:
    """S and the group's order: the same signature to who does not look (RFC 8032 section 5.1.7)."""
    order = 2**252 + 27742317777372353535851937790883648493
    return (int.from_bytes(s, "little") + order).to_bytes(32, "little")
