"""Redaction: what is named is gone and accounted for, nothing else is; every proof stays."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.canonical import canonical_json
from ledger.erasure.fingerprint import pack
from ledger.erasure.redaction import MAX_ENTRIES, Redaction, Scan, Target, batches, invalidation_document, parse_detail
from ledger.errors import EntryNotFound, EntryRefused, MalformedLeaf, PartErased
from ledger.ledger import Ledger
from ledger.model import Kind
from ledger.proofs.receipt import verify_receipt
from ledger.provenance.document import prov_jsonld, prov_n
from ledger.stores.sqlite.store import SqliteLedgerStore
from ledger.stores.store import PartAt
from tests.ledger_doubles import fixed_ids, open_ledger

ID = fixed_ids()()
SECRET = b"Cordelia Vane of Wabaunsee asked for her brother's grave"
ids = st.integers(1, 2**47).map(lambda n: fixed_ids(n)())
names = st.lists(st.sampled_from(["question", "answer", "sources/1", "policy.query"]), min_size=1, unique=True)


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    opened = await open_ledger(await SqliteLedgerStore.open(tmp_path / "ledger.db"))
    yield opened
    await opened.aclose()


async def asked(ledger: Ledger, request: str, *, tenant: str = "t") -> str:
    return (
        await ledger.record(
            Kind.INTENT, tenant=tenant, request_id=request, parts={"question": SECRET, "context": b"{}"}
        )
    ).entry_id


@given(st.dictionaries(ids, names, min_size=1, max_size=40))
@settings(max_examples=30)
def test_every_part_is_in_one_batch(parts: dict[str, list[str]]) -> None:
    made = [Redaction(Target.SUBJECT, "a", "request", batch) for batch in batches(parts)]
    assert all(len(each.entry_ids) <= MAX_ENTRIES for each in made)
    assert {(p.entry_id, p.name) for each in made for p in each.parts} == {
        (entry, name) for entry, listed in parts.items() for name in listed
    }
    for each in made:
        again = parse_detail(each.detail())
        assert set(again.parts) == set(each.parts)
        assert again.detail() == each.detail()


DETAIL: dict[str, Any] = json.loads(Redaction(Target.ENTRY, ID, "request", (PartAt(ID, "answer"),)).detail())
BAD: dict[str, dict[str, Any]] = {
    "version": {"v": "exhibit.redaction/2"},
    "target": {"target": "person"},
    "name": {"name": 7},
    "basis with a line break": {"basis": "a\nb"},
    "basis that is empty": {"basis": ""},
    "more": {"more": 1},
    "no parts": {"parts": {}},
    "parts as a list": {"parts": []},
    "no entry id": {"parts": {"x": ["answer"]}},
    "no names": {"parts": {ID: []}},
    "a name twice": {"parts": {ID: ["answer", "answer"]}},
    "names that fall": {"parts": {ID: ["question", "answer"]}},
    "a name that is none": {"parts": {ID: [1]}},
    "too many entries": {"parts": {fixed_ids(n)(): ["answer"] for n in range(1, MAX_ENTRIES + 2)}},
}


@pytest.mark.parametrize("name", BAD)
def test_a_detail_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(MalformedLeaf):
        parse_detail(canonical_json({**DETAIL, **BAD[name]}))


@pytest.mark.parametrize("change", [lambda data: data + b" ", lambda data: data[:-1], lambda _: b"[]", lambda _: b""])
def test_a_detail_in_other_bytes_is_refused(change: Any) -> None:
    parse_detail(canonical_json(DETAIL))
    with pytest.raises(MalformedLeaf):
        parse_detail(change(canonical_json(DETAIL)))


@pytest.mark.parametrize("basis", ["", " ", "a\nb", "x" * 201, "=cmd", "art. 17 <script>"])
def test_a_basis_is_short_and_plain(basis: str) -> None:
    with pytest.raises(EntryRefused):
        Redaction(Target.ENTRY, ID, basis, (PartAt(ID, "answer"),))


def test_provenance_says_what_was_invalidated_when_and_by_what() -> None:
    from prov.model import ProvDocument, ProvInvalidation

    redaction = Redaction(Target.SUBJECT, "ab" * 16, "art. 17", (PartAt(ID, "question"), PartAt(ID, "sources/1")))
    data = invalidation_document(redaction, run_id=ID, at_ms=1_700_000_000_000)
    document = ProvDocument.deserialize(content=data.decode(), format="json")
    found = list(document.get_records(ProvInvalidation))
    assert {str(record.args[0]) for record in found} == {f"run:entry/{ID}/question", f"run:entry/{ID}/sources/1"}
    assert {str(record.args[1]) for record in found} == {"run:activity/redaction"}
    assert {record.args[2].year for record in found} == {2023}
    assert all(record.identifier is not None for record in found)
    assert "wasInvalidatedBy(" in prov_n(data)
    assert "Invalidation" in prov_jsonld(data)
    declared = {str(record.identifier) for record in document.get_records() if not record.is_relation()}
    assert {str(end) for record in found for end in record.args[:2]} <= declared


async def test_what_is_redacted_is_gone_and_everything_still_verifies(ledger: Ledger, tmp_path: Path) -> None:
    kept, gone = await asked(ledger, "r1"), await asked(ledger, "r2")
    before = await ledger.receipt(gone, disclose=["question"])
    assert verify_receipt(before, vkey=ledger.vkey).parts["question"] == SECRET
    [salt] = [part.salt for part in await ledger._store.parts(gone, ["question"])]
    made = await ledger.redact(Redaction(Target.ENTRY, gone, "art. 17", (PartAt(gone, "question"),)), request_id="e")
    await ledger.shrink()
    with pytest.raises(PartErased):
        await ledger.part(gone, "question")
    assert await ledger.part(gone, "context") == b"{}"
    assert await ledger.part(kept, "question") == SECRET
    assert await ledger.contents(await ledger.entry(gone)) == {"context": b"{}", "policy.query": b"", "scope": b""}
    assert await ledger.part_names(gone) == ("context", "policy.query", "scope")
    report = await ledger.verify()
    assert (report.ok, report.erased) == (True, 1)
    assert verify_receipt(await ledger.receipt(gone, disclose=()), vkey=ledger.vkey).leaf.entry_id == gone
    assert verify_receipt(before, vkey=ledger.vkey).index == 1
    entry = await ledger.entry(made.entry_id)
    assert [(ref.rel, ref.id) for ref in entry.leaf.refs] == [("redacts", gone)]
    assert parse_detail(await ledger.part(made.entry_id, "detail")).basis == "art. 17"
    for file in tmp_path.iterdir():
        assert salt not in file.read_bytes()


async def test_a_part_that_no_redaction_names_is_still_missed(ledger: Ledger, tmp_path: Path) -> None:
    import apsw

    entry_id = await asked(ledger, "r1")
    await ledger.redact(Redaction(Target.ENTRY, entry_id, "x", (PartAt(entry_id, "question"),)), request_id="e")
    db = apsw.Connection(str(tmp_path / "ledger.db"))  # the newest leaf is a redaction: the guard alone lets it through
    for table in ("secrets", "blobs"):
        db.execute(f"DELETE FROM {table} WHERE idx = 0 AND name = 'context'")
    db.close()
    assert [(p.step, p.part) for p in (await ledger.verify()).problems] == [("part-missing", "context")]


async def test_a_redaction_again_finds_nothing_to_erase_and_is_recorded(ledger: Ledger) -> None:
    entry_id = await asked(ledger, "r1")
    redaction = Redaction(Target.ENTRY, entry_id, "x", (PartAt(entry_id, "question"),))
    await ledger.redact(redaction, request_id="e1")
    await ledger.redact(redaction, request_id="e2")
    report = await ledger.verify()
    assert (report.ok, report.erased, report.entries) == (True, 1, 3)


async def test_a_redaction_of_what_is_not_there_or_of_two_tenants_is_refused(ledger: Ledger) -> None:
    ours, theirs = await asked(ledger, "r1"), await asked(ledger, "r2", tenant="u")
    with pytest.raises(EntryNotFound):
        absent = fixed_ids(999)()
        await ledger.redact(Redaction(Target.ENTRY, absent, "x", (PartAt(absent, "question"),)), request_id="e")
    with pytest.raises(EntryRefused):
        both = (PartAt(ours, "question"), PartAt(theirs, "question"))
        await ledger.redact(Redaction(Target.SUBJECT, "s", "x", both), request_id="e")
    assert len(await ledger.entries()) == 2
    assert await ledger.part(ours, "question") == SECRET


SCAN = Scan((ID,), 3, 900, (), 40, 2, (("record.sqlite", 4),), ("locked",))
FOUND = Redaction(Target.ENTRY, ID, "request", (), b"", SCAN)
FOUND_DETAIL: dict[str, Any] = json.loads(FOUND.detail())
BAD_FOUND: dict[str, dict[str, Any]] = {
    "the first version with a scan": {"v": "exhibit.redaction/1"},
    "prints that are no base64": {"prints": "?"},
    "prints in another base64": {"prints": "AB=="},
    "prints that are no text": {"prints": None},
    "a scan with parts": {"parts": {ID: ["answer"]}},
    "neither parts nor prints nor scan": {"scan": None},
    "a scan that is a list": {"scan": []},
    "a count that is none": {"scan": FOUND_DETAIL["scan"] | {"files": -1}},
    "a count that is true": {"scan": FOUND_DETAIL["scan"] | {"files": True}},
    "a place that is none": {"scan": FOUND_DETAIL["scan"] | {"hits": [{"where": 1, "prints": 1}]}},
    "more in a place": {"scan": FOUND_DETAIL["scan"] | {"hits": [{"where": "x", "prints": 1, "y": 1}]}},
    "more in a scan": {"scan": FOUND_DETAIL["scan"] | {"more": 1}},
    "less in a scan": {"scan": {name: value for name, value in FOUND_DETAIL["scan"].items() if name != "unread"}},
}


@given(st.dictionaries(ids, names, max_size=3), st.sets(st.binary(min_size=12, max_size=12)), st.booleans())
@settings(max_examples=30)
def test_the_second_version_is_read_as_it_was_written(
    parts: dict[str, list[str]], prints: set[bytes], scanned: bool
) -> None:
    if not (parts or prints):
        return
    held = tuple(PartAt(each, name) for each, listed in parts.items() for name in listed)
    made = FOUND if scanned else Redaction(Target.SOURCE, "a", "request", held, pack(prints))
    again = parse_detail(made.detail())
    assert (set(again.parts), again.prints, again.scan) == (set(made.parts), made.prints, made.scan)
    assert again.detail() == made.detail()


@pytest.mark.parametrize("name", BAD_FOUND)
def test_a_scan_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(MalformedLeaf):
        parse_detail(canonical_json(FOUND_DETAIL | BAD_FOUND[name]))


async def test_a_redaction_without_parts_stands_in_the_log_and_verifies(ledger: Ledger) -> None:
    entry_id = await asked(ledger, "r")
    made = await ledger.redact(FOUND, request_id="scan", tenant="t")
    assert (await ledger.entry(made.entry_id)).leaf.refs == ()
    assert parse_detail(await ledger.part(made.entry_id, "detail")) == FOUND
    assert await ledger.part(entry_id, "question") == SECRET
    assert (await ledger.verify()).problems == ()
