"""Whom a verifier trusts: a policy file of logs, witnesses and a quorum (c2sp.org/tlog-policy).

    log <vkey> [<url>]
    witness <name> <vkey> [<url>]
    group <name> all|any|<k> <name>...
    quorum <name>|none

Words are parted by spaces and tabs only; other bytes are opaque. A name is defined before it is used and is a member of
at most one group, so every witness counts once. A log or witness whose key is of an algorithm that is not known here is
skipped, with a note: such a witness can be a member, and never counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from ledger.errors import MalformedNote, MalformedPolicy, VerificationFailed
from ledger.notes.cosignature import cosigned_at, parse_witness_key
from ledger.notes.note import PUBLIC_BYTES, VerifierKey, parse_vkey, vkey_type

NONE = "none"
MAX_POLICY_BYTES = 1_000_000
_WORDS = re.compile(r"[^ \t]+")
_COUNT = re.compile(r"[1-9][0-9]{0,5}")


@dataclass(frozen=True, slots=True)
class TrustedLog:
    """A log by its key; the key's name is its origin."""

    key: VerifierKey
    url: str | None = None


@dataclass(frozen=True, slots=True)
class TrustedWitness:
    """A witness by its key. `name` means something inside the policy file only."""

    name: str
    key: VerifierKey
    url: str | None = None

    @property
    def operator(self) -> str:
        """The operator of a witness: the key name, a schema-less URL, up to its first slash."""
        return self.key.name.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Group:
    """Members of which `least` have to have witnessed."""

    least: int
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WitnessedHead:
    """The witnesses whose cosignatures hold, by key name, with their times, and the time by which they made the
    quorum, in seconds since 1970."""

    times_s: Mapping[str, int]
    by_s: int


@dataclass(frozen=True, slots=True)
class TrustPolicy:
    """A parsed policy file."""

    logs: tuple[TrustedLog, ...]
    witnesses: tuple[TrustedWitness, ...]
    groups: Mapping[str, Group]
    quorum: str
    notes: tuple[str, ...] = ()

    @property
    def asks_none(self) -> bool:
        """True if a checkpoint is accepted without any cosignature."""
        return self.quorum == NONE

    def satisfied_by(self, names: Collection[str]) -> bool:
        """True if these witnesses make the quorum."""
        return self.asks_none or self._witnessed(self.quorum, names)

    def needs_two_operators(self) -> bool:
        """True if no operator can make the quorum with its own witnesses alone."""
        operators = {witness.operator for witness in self.witnesses}
        return not any(
            self.satisfied_by({each.name for each in self.witnesses if each.operator == operator})
            for operator in operators or {""}
        )

    def keys_of(self, origin: str) -> tuple[VerifierKey, ...]:
        """The keys of the log of that origin."""
        return tuple(log.key for log in self.logs if log.key.name == origin)

    def check(self, note: str) -> WitnessedHead | None:
        """The cosignatures of a checkpoint whose own signature has been verified; None if the policy asks for none and
        there is none. Raises MalformedNote, and VerificationFailed with the step `cosignature` for one that does not
        hold and `quorum` if too few are there."""
        times = {each: at for each in self.witnesses if (at := cosigned_at(note, each.key)) is not None}
        if not self.satisfied_by({each.name for each in times}):
            raise VerificationFailed("quorum", f"{len(times)} trusted witnesses cosigned, which is not a quorum")
        if not times:
            return None
        so_far: set[str] = set()
        for witness in sorted(times, key=lambda each: times[each]):
            so_far.add(witness.name)
            if self.satisfied_by(so_far):
                return WitnessedHead({each.key.name: at for each, at in times.items()}, times[witness])
        raise AssertionError("a quorum of all is not a quorum of some")

    def _witnessed(self, name: str, names: Collection[str]) -> bool:
        group = self.groups.get(name)
        if group is None:
            return name in names
        return sum(self._witnessed(member, names) for member in group.members) >= group.least


def parse_policy(data: bytes) -> TrustPolicy:
    """The policy in a file's bytes. Raises MalformedPolicy, which names the line."""
    if len(data) > MAX_POLICY_BYTES:
        raise MalformedPolicy("the policy is too large")
    if any((byte < 0x20 and byte not in b"\t\n") or byte == 0x7F for byte in data):
        raise MalformedPolicy("the policy holds a control character")
    if not data.endswith(b"\n"):
        raise MalformedPolicy("the last line does not end")
    reader = _Reader()
    for number, line in enumerate(data.decode("utf-8", "surrogateescape").split("\n")[:-1], start=1):
        words = _WORDS.findall(line)
        if words and not words[0].startswith("#"):
            try:
                reader.line(words[0], words[1:])
            except (MalformedNote, MalformedPolicy) as exc:
                raise MalformedPolicy(f"line {number}: {exc}") from exc
    return reader.policy()


class _Reader:
    """The part that has been read so far."""

    def __init__(self) -> None:
        self._logs: list[TrustedLog] = []
        self._witnesses: list[TrustedWitness] = []
        self._groups: dict[str, Group] = {}
        self._members: set[str] = set()
        self._quorum: str | None = None
        self._skipped: set[str] = set()
        self._notes: list[str] = []

    def line(self, verb: str, words: Sequence[str]) -> None:
        match verb, list(words):
            case "log", [vkey, *url] if len(url) <= 1 and _unknown(vkey):
                self._notes.append(f"a log's key is of type {vkey_type(vkey).hex()}, which is not known here: skipped")
            case "witness", [name, vkey, *url] if len(url) <= 1 and _unknown(vkey):
                self._skipped.add(self._new(name))
                self._notes.append(
                    f"the key of witness {name} is of type {vkey_type(vkey).hex()}, which is not known here: skipped"
                )
            case "log", [vkey, *url] if len(url) <= 1:
                self._log(TrustedLog(parse_vkey(vkey), *url))
            case "witness", [name, vkey, *url] if len(url) <= 1:
                self._witness(TrustedWitness(self._new(name), parse_witness_key(vkey), *url))
            case "group", [name, count, *members] if members:
                self._group(self._new(name), count, members)
            case "quorum", [name]:
                self._set_quorum(name)
            case _:
                _refuse("not log, witness, group or quorum with what each needs")

    def policy(self) -> TrustPolicy:
        if self._quorum is None:
            _refuse("there is no quorum line")
        groups, notes = dict(self._groups), tuple(self._notes)
        return TrustPolicy(tuple(self._logs), tuple(self._witnesses), groups, self._quorum, notes)

    def _log(self, log: TrustedLog) -> None:
        if any(log.key.public == other.key.public for other in self._logs):
            _refuse("a log's key occurs twice")
        self._logs.append(log)

    def _witness(self, witness: TrustedWitness) -> None:
        if any(witness.key.public == other.key.public for other in self._witnesses):
            _refuse("a witness's key occurs twice")
        self._witnesses.append(witness)

    def _group(self, name: str, count: str, members: Sequence[str]) -> None:
        for member in members:
            if not self._defined(member) or member in self._members:
                _refuse("a member is not defined above, or is a member already")
            self._members.add(member)
        self._groups[name] = Group(_least(count, len(members)), tuple(members))

    def _set_quorum(self, name: str) -> None:
        if self._quorum is not None:
            _refuse("there are two quorum lines")
        if name != NONE and not self._defined(name):
            _refuse("the quorum is not defined above")
        self._quorum = name

    def _new(self, name: str) -> str:
        if name == NONE or self._defined(name):
            _refuse("the name is taken")
        return name

    def _defined(self, name: str) -> bool:
        return name in self._groups or name in self._skipped or any(witness.name == name for witness in self._witnesses)


def _unknown(vkey: str) -> bool:
    return vkey_type(vkey) not in PUBLIC_BYTES


def _least(count: str, members: int) -> int:
    if count in ("all", "any"):
        return members if count == "all" else 1
    if not _COUNT.fullmatch(count) or int(count) > members:
        _refuse("the threshold is not all, any or a number from 1 to that of the members")
    return int(count)


def _refuse(reason: str) -> NoReturn:
    raise MalformedPolicy(reason)
