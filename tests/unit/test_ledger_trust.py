"""Trust policies (C2SP tlog-policy): what the specification's example means, and every file that is none."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.errors import MalformedPolicy, VerificationFailed
from ledger.model import TreeHead
from ledger.notes.cosignature import cosign, witness_signing_key
from ledger.notes.note import SigningKey, VerifierKey, checkpoint_text, sign_note
from ledger.notes.trust import TrustPolicy, parse_policy

LOG = SigningKey.from_seed("exhibit.example/log", b"l" * 32)
LATER = SigningKey.from_seed("exhibit.example/log", b"m" * 32)
NAMES = ("X1", "X2", "X3", "Y1", "Y2", "Y3")
KEYS = {name: witness_signing_key(f"{name[0].lower()}.example/{name}", name.encode() * 16) for name in NAMES}
VKEY = {name: str(key.verifier) for name, key in KEYS.items()}
EXAMPLE = f"""# Two operators, three witnesses each.
log {LOG.verifier}
\tlog {LATER.verifier}   https://log.example/\x20

witness X1 {VKEY["X1"]} https://x.example/1
witness X2 {VKEY["X2"]}
witness X3 {VKEY["X3"]}
group  X-witnesses 2 X1 X2 X3

witness Y1 {VKEY["Y1"]}
witness Y2 {VKEY["Y2"]}
witness Y3 {VKEY["Y3"]}
group Y-witnesses any Y1 Y2 Y3

group X-and-Y all X-witnesses Y-witnesses
quorum X-and-Y
"""
TEXT = checkpoint_text(LOG.name, TreeHead(3, b"\x5a" * 32))
NOTE = sign_note(TEXT, [LOG])


def policy(text: str = EXAMPLE) -> TrustPolicy:
    return parse_policy(text.encode())


async def cosigned(**times: int) -> str:
    lines = [await cosign(TEXT, KEYS[name], timestamp_s=at) for name, at in times.items()]
    return NOTE + "".join(f"{line}\n" for line in lines)


def test_the_example_of_the_specification() -> None:
    parsed = policy()
    for size in range(7):
        for names in itertools.combinations(NAMES, size):
            enough = sum(name[0] == "X" for name in names) >= 2 and any(name[0] == "Y" for name in names)
            assert parsed.satisfied_by(names) is enough
    assert parsed.needs_two_operators()
    assert parsed.witnesses[0].url == "https://x.example/1"
    assert parsed.keys_of(LOG.name) == (LOG.verifier, LATER.verifier)
    assert parsed.keys_of("other") == ()


@pytest.mark.parametrize(
    ("quorum", "two"),
    [
        ("quorum X1\n", False),
        ("group g any X1 Y1\nquorum g\n", False),
        ("group g 2 X1 X2\nquorum g\n", False),
        ("group g 2 X1 X2 Y1\nquorum g\n", False),
        ("group g all X1 Y1\nquorum g\n", True),
        ("group x any X1 X2\ngroup y any Y1\ngroup g all x y\nquorum g\n", True),
        ("quorum none\n", False),
    ],
)
def test_who_can_decide_alone(quorum: str, two: bool) -> None:
    lines = [f"witness {name} {vkey}\n" for name, vkey in VKEY.items()]
    assert policy("".join(lines) + quorum).needs_two_operators() is two


async def test_the_quorum_is_made_by_the_last_that_it_needs() -> None:
    found = policy().check(await cosigned(Y2=50, X1=10, X3=30, X2=20))
    assert found is not None
    assert found.by_s == 50
    assert found.times_s == {"x.example/X1": 10, "x.example/X2": 20, "x.example/X3": 30, "y.example/Y2": 50}
    again = policy().check(await cosigned(Y1=5, X1=10, X2=20, Y2=99))
    assert again is not None
    assert again.by_s == 20


@pytest.mark.parametrize("names", [(), ("X1",), ("X1", "X2"), ("X1", "X2", "X3"), ("Y1", "Y2", "Y3", "X1")])
async def test_too_few_make_no_quorum(names: tuple[str, ...]) -> None:
    with pytest.raises(VerificationFailed) as failed:
        policy().check(await cosigned(**dict.fromkeys(names, 1)))
    assert failed.value.step == "quorum"


async def test_one_that_does_not_hold_spoils_a_quorum() -> None:
    wrong = await cosign(TEXT + "x\n", KEYS["Y3"], timestamp_s=1)
    with pytest.raises(VerificationFailed) as failed:
        policy().check(await cosigned(X1=1, X2=1, Y1=1) + wrong + "\n")
    assert failed.value.step == "cosignature"


async def test_a_policy_that_asks_for_nobody() -> None:
    parsed = policy("quorum none\n")
    assert parsed.asks_none
    assert parsed.check(NOTE) is None
    assert parsed.check(await cosigned(X1=1)) is None
    named = policy(f"witness X1 {VKEY['X1']}\nquorum none\n").check(await cosigned(X1=7))
    assert named is not None
    assert named.by_s == 7


def test_many_of_everything() -> None:
    lines = [
        f"witness w{n} {witness_signing_key(f'w{n}.example', n.to_bytes(32, 'big')).verifier}" for n in range(1, 33)
    ]
    groups = ["group g1 any w1", *(f"group g{n} all g{n - 1} w{n}" for n in range(2, 33))]
    parsed = policy("\n".join([*lines, *groups, "quorum g32"]) + "\n")
    assert parsed.satisfied_by({f"w{n}" for n in range(1, 33)})
    assert not parsed.satisfied_by({f"w{n}" for n in range(1, 32)})


W = f"witness X1 {VKEY['X1']}\n"
BAD = {
    "empty": "",
    "no quorum": W,
    "two quorums": W + "quorum X1\nquorum X1\n",
    "quorum before its witness": "quorum X1\n" + W,
    "quorum of nobody": W + "quorum X2\n",
    "quorum of two": W + "quorum X1 X1\n",
    "quorum without a name": W + "quorum\n",
    "last line does not end": W + "quorum X1",
    "carriage returns": (W + "quorum X1\n").replace("\n", "\r\n"),
    "NUL": W + "quorum X1\n#\0\n",
    "escape": W + "quorum X1\n#\x1b\n",
    "delete": W + "quorum X1\n#\x7f\n",
    "vertical tab": W + "quorum\x0bX1\n",
    "no-break space between words": W + "quorum\u00a0X1\n",
    "unknown verb": W + "quorum X1\nallow X1\n",
    "verb in capitals": W + "QUORUM X1\n",
    "comment behind a line": W + "quorum X1 # mine\n",
    "witness twice": W + W + "quorum X1\n",
    "two names for one key": W + f"witness X2 {VKEY['X1']}\nquorum X1\n",
    "one key under two key names": W
    + f"witness X2 {witness_signing_key('else.example', b'X1' * 16).verifier}\nquorum X1\n",
    "two keys under one name": W + f"witness X1 {VKEY['X2']}\nquorum X1\n",
    "a witness named none": f"witness none {VKEY['X1']}\nquorum none\n",
    "a group named none": W + "group none any X1\nquorum X1\n",
    "a group named as a witness": W + "group X1 any X1\nquorum X1\n",
    "a group of itself": W + "group g any g\nquorum X1\n",
    "a group of later ones": "group g any X1\n" + W + "quorum g\n",
    "a group of nobody": W + "group g any\nquorum X1\n",
    "a group of none": W + "group g any none\nquorum X1\n",
    "a member twice": W + "group g any X1 X1\nquorum g\n",
    "a member of two groups": W + "group g any X1\ngroup h any X1\nquorum g\n",
    "threshold 0": W + "group g 0 X1\nquorum g\n",
    "threshold above the members": W + "group g 2 X1\nquorum g\n",
    "threshold with a leading zero": W + "group g 01 X1\nquorum g\n",
    "threshold with a sign": W + "group g +1 X1\nquorum g\n",
    "threshold in Arabic digits": W + "group g ١ X1\nquorum g\n",
    "threshold of many digits": W + "group g 99999999999999999999 X1\nquorum g\n",
    "threshold ALL": W + "group g ALL X1\nquorum g\n",
    "witness without a key": "witness X1\nquorum none\n",
    "witness with two addresses": W.replace("\n", " https://a https://b\n") + "quorum X1\n",
    "witness with a log's key": f"witness X1 {LOG.verifier}\nquorum X1\n",
    "log with a witness's key": f"log {VKEY['X1']}\nquorum none\n",
    "log twice": f"log {LOG.verifier}\nlog {LOG.verifier}\nquorum none\n",
    "log with a name": f"log here {LOG.verifier}\nquorum none\n",
    "log without a key": "log\nquorum none\n",
    "key cut": W.replace(VKEY["X1"], VKEY["X1"][:-1]) + "quorum X1\n",
    "another key's id": W.replace(KEYS["X1"].verifier.key_id.hex(), "00000000") + "quorum X1\n",
}


@pytest.mark.parametrize("name", BAD)
def test_files_that_are_no_policy(name: str) -> None:
    with pytest.raises(MalformedPolicy):
        policy(BAD[name])


def test_names_are_opaque_bytes() -> None:
    kelvin = f"witness \u212a {VKEY['X1']}\nwitness K {VKEY['X2']}\nquorum \u212a\n"
    assert policy(kelvin).satisfied_by({"\u212a"})
    assert not policy(kelvin).satisfied_by({"K"})
    latin = f"witness caf\u00e9 {VKEY['X1']}\nquorum caf\u00e9\n# \u00ff\n".encode("latin-1")
    assert parse_policy(latin).satisfied_by({"caf\udce9"})


@given(st.binary(max_size=80), st.integers(0, len(EXAMPLE)))
@settings(max_examples=50, deadline=None)
def test_parsing_raises_nothing_else(noise: bytes, at: int) -> None:
    honest = EXAMPLE.encode()
    for data in (noise, honest[:at] + noise, honest[:at] + noise + honest[at:]):
        try:
            parse_policy(data)
        except MalformedPolicy:
            continue


def unknown(name: str, algorithm: int, length: int = 40) -> str:
    """The text of a key of an algorithm that nobody has heard of."""
    return str(VerifierKey(name, b"k" * length, bytes([algorithm])))


@pytest.mark.parametrize("algorithm", [0, 2, 3, 5, 7, 0x80, 0xFF])
async def test_an_algorithm_that_is_not_known_is_skipped_with_a_note(algorithm: int) -> None:
    lines = f"log {unknown('l.example', algorithm)}\nwitness new {unknown('n.example', algorithm)}\n"
    lines += f"witness X1 {VKEY['X1']}\ngroup g any X1 new\nquorum g\n"
    parsed = policy(lines)
    assert len(parsed.notes) == 2 and all(f"{algorithm:02x}" in note for note in parsed.notes)
    assert [witness.name for witness in parsed.witnesses] == ["X1"]
    assert parsed.logs == ()
    assert parsed.satisfied_by({"X1"}) and not parsed.satisfied_by(set())
    with pytest.raises(VerificationFailed):
        parsed.check(await cosigned(Y1=1))


@pytest.mark.parametrize("quorum", ["quorum new\n", "group g all X1 new\nquorum g\n", "group g 2 X1 new\nquorum g\n"])
async def test_a_quorum_that_needs_an_unknown_algorithm_is_never_made(quorum: str) -> None:
    parsed = policy(f"witness X1 {VKEY['X1']}\nwitness new {unknown('n.example', 9)}\n{quorum}")
    with pytest.raises(VerificationFailed) as failed:
        parsed.check(await cosigned(X1=1))
    assert failed.value.step == "quorum"


@pytest.mark.parametrize(
    "line",
    [
        "witness new n.example+00000000+\n",
        "witness new n.example+0000+CQ==\n",
        "witness new +00000000+CQ==\n",
        "witness new n.example+00000000+!\n",
        "witness none n.example+00000000+CQ==\n",
        "witness X1 n.example+00000000+CQ==\n",
    ],
)
def test_what_is_not_a_key_is_an_error_all_the_same(line: str) -> None:
    with pytest.raises(MalformedPolicy):
        policy(f"witness X1 {VKEY['X1']}\n{line}quorum X1\n")
