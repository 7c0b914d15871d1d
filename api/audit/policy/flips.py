"""The smallest changes of an input for a policy point that would have decided otherwise: for the whole request, and for
each item of evidence and each sentence in it.

A change sets a few fields of the input, named by JSON pointers (RFC 6901), so that whoever reads of it can make it.
What is told was decided: each change is put to the engine alone, as it will be shown, and is told only of what that
turned. The input is the author's own, and what is tried comes from it and from the data of the bundle.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policy.data import PolicyData
from policy.errors import InputRejected
from policy.model import Effect
from policy.obligations import KEEPS_WORDS

MOST_TRIES = 600
"""Most decisions for one input."""
Document = dict[str, Any]
Item = tuple[str, str]
Decide = Callable[[object], Awaitable[Document]]
REQUEST: Item = ("request", "")


@dataclass(frozen=True, slots=True)
class InputChange:
    """One change: what kind it is, what it becomes in words, and the fields that it sets. `of` is the item that it is
    made to; None: who asks, or what for, which bears on every item."""

    what: str
    value: str
    sets: Mapping[str, Any]
    of: Item | None = None


def fates(asked: object, decision: Mapping[str, Any]) -> dict[Item, str]:
    """The fate of the request (allowed, denied), and of each item and sentence (kept, redacted, dropped)."""
    allowed = decision["effect"] != Effect.DENY
    found = {REQUEST: "allowed" if allowed else "denied"}
    duties: dict[Item, set[str]] = {}
    for each in decision["obligations"]:
        duties.setdefault((each["target"]["kind"], each["target"]["ref"]), set()).add(each["op"])
    admitted = set(decision["admit"])
    for item, _, _ in _items(asked):
        kind, ref = item
        ops = duties.get(item, set())
        gone = not allowed or (ref not in admitted if kind == "evidence" else "drop_sentence" in ops)
        found[item] = "dropped" if gone else "redacted" if ops - KEEPS_WORDS else "kept"
    return found


async def smallest_flips(
    asked: object, before: Mapping[str, Any], *, decide: Decide, data: PolicyData
) -> list[Document]:
    """For the request and for every item the first change that turns its fate: of one field before of two. `decide`
    gives the decision over an input with its stamp. Raises PolicyUnavailable."""
    if not isinstance(asked, dict):
        return []
    was, found, tries = fates(asked, before), dict[Item, Document](), 0
    for changes in _changes(asked, data):
        wanted = [item for item in was if item not in found and changes[-1].of in (None, item)]
        if not wanted or tries == MOST_TRIES:
            continue
        changed, tries = _made(asked, changes), tries + 1
        try:
            decision = await decide(changed)
        except InputRejected:
            continue  # a change may make an input larger than inputs may be
        now = fates(changed, decision)
        turned = now[REQUEST] != was[REQUEST]
        for item in [REQUEST] if turned and REQUEST in wanted else [] if turned else wanted:
            if now.get(item, was[item]) != was[item]:
                found[item] = _told(item, was[item], now[item], changes, decision)
    return [found[item] for item in was if item in found]


def _told(item: Item, before: str, becomes: str, changes: tuple[InputChange, ...], decision: Document) -> Document:
    return {
        "item": {"kind": item[0], "ref": item[1]},
        "before": before,
        "becomes": becomes,
        "changes": [{"what": each.what, "value": each.value, "sets": dict(each.sets)} for each in changes],
        "input_digest": decision["stamp"]["input"],
    }


def _items(asked: object) -> Iterator[tuple[Item, str, Mapping[str, Any]]]:
    """The items and sentences of an input, each with its pointer and its facts."""
    whole = asked if isinstance(asked, Mapping) else {}
    answer = whole.get("answer")
    sentences = answer.get("sentences") if isinstance(answer, Mapping) else None
    for kind, name, held, path in (
        ("evidence", "id", whole.get("evidence"), "/evidence"),
        ("sentence", "i", sentences, "/answer/sentences"),
    ):
        for n, each in enumerate(held if isinstance(held, list) else ()):
            if isinstance(each, Mapping) and isinstance(each.get(name), str | int):
                yield (kind, str(each[name])), f"{path}/{n}", each


def _made(asked: Document, changes: tuple[InputChange, ...]) -> Document:
    """The input with the changes."""
    made = copy.deepcopy(asked)
    for pointer, value in (pair for each in changes for pair in each.sets.items()):
        *path, last = pointer.split("/")[1:]
        place: Any = made
        for part in path:
            place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
        place[last] = value
    return made


def _changes(asked: Document, data: PolicyData) -> Iterator[tuple[InputChange, ...]]:
    """The changes that are tried, the smallest demand first: single changes, then a group together with a role."""
    asker = list(_of_asker(asked, data))
    items = list(_of_items(asked, data))
    yield from ((each,) for each in (*asker, *items))
    groups = [each for each in asker if each.what == "group" and not each.value.startswith("-")]
    yield from ((group, role) for group in groups for role in asker if role.what == "role")


def _of_asker(asked: Document, data: PolicyData) -> Iterator[InputChange]:
    """Changes of who asks, and what for; what is no object is left alone."""
    subject, request = asked.get("subject"), asked.get("request")
    if isinstance(subject, Mapping):
        held = _texts(subject.get("groups"))
        for group in _groups(asked, data):
            if group not in held:
                yield InputChange("group", group, {"/subject/groups": sorted([*held, group])})
        for group in held:
            yield InputChange("group", f"-{group}", {"/subject/groups": [each for each in held if each != group]})
        if subject.get("session_expires_ms") is not None:
            yield InputChange("session", "without end", {"/subject/session_expires_ms": None})
    if isinstance(request, Mapping):
        for purpose in sorted(data.purposes):
            if purpose != request.get("purpose"):
                yield InputChange("purpose", purpose, {"/request/purpose": purpose})
    if isinstance(asked.get("prompt"), Mapping) and asked["prompt"].get("verdict") != "ALLOW":
        yield InputChange("prompt", "ALLOW", {"/prompt/verdict": "ALLOW", "/prompt/risk": 0, "/prompt/classes": []})
    if isinstance(subject, Mapping):
        for name, role in sorted(data.roles.items(), key=lambda each: (data.labels[each[1].clearance], each[0])):
            if subject.get("roles") != [name]:
                sets = {"roles": [name], "clearance": role.clearance, "capabilities": sorted(role.capabilities)}
                yield InputChange("role", name, {f"/subject/{key}": value for key, value in sets.items()})


def _of_items(asked: Document, data: PolicyData) -> Iterator[InputChange]:
    """Changes of each item of evidence, of one fact each."""
    for item, path, facts in _items(asked):
        if item[0] != "evidence":
            continue
        for label in data.ascending:
            if label != facts.get("label"):
                yield InputChange("label", label, {f"{path}/label": label}, item)
        tags = _texts(facts.get("handling"))
        for tag in tags:
            kept = [each for each in tags if each != tag]
            yield InputChange("handling", f"-{tag}", {f"{path}/handling": kept}, item)
        good: Document = {"groups": [], "lifecycle": min(data.lifecycle, default=""), "valid_until_ms": None}
        good |= {"injection": {"score_milli": 0, "rules": []}, "findings": [], "indexed_sha256": facts.get("sha256")}
        for name, value in good.items():
            if facts.get(name) != value:
                told = str(value) if isinstance(value, str) else "none"
                yield InputChange(name, told, {f"{path}/{name}": value}, item)


def _groups(asked: Document, data: PolicyData) -> list[str]:
    """The groups that anything in the input or in the data asks for."""
    named = {each.group for each in data.handling.values() if each.group}
    for name in ("classes", "evidence"):
        held = asked.get(name)
        for each in held if isinstance(held, list) else ():
            if isinstance(each, Mapping):
                named |= {*_texts(each.get("groups"))}
    return sorted(named)


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
