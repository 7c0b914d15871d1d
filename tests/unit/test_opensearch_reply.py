"""Nothing but an answer to what was asked passes for one."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.errors import ChannelError, ChannelFault, ChannelTimeout, ChannelUnavailable, IndexNotReady
from retrieval.fulltext.opensearch_reply import IndexInTransition, ScoredRecord, read_reply

CLASSES = ("sha256:a", "sha256:b")


def hit(record_id: object, score: object, class_id: object = "sha256:a") -> dict[str, Any]:
    return {"_index": "x", "_score": score, "sort": [score, record_id], "fields": {"class_id": [class_id]}}


def reply(*hits: Any, **changes: Any) -> dict[str, Any]:
    shards = {"total": 2, "successful": 2, "skipped": 0, "failed": 0}
    whole = {"took": 1, "timed_out": False, "_shards": shards, "status": 200}
    counted = whole | {"aggregations": {"words": {"buckets": [{"doc_count": 3}, {"doc_count": 1}]}}}
    entries = whole | {"hits": {"total": {"value": 7, "relation": "eq"}, "hits": []}}
    found = whole | {"hits": {"hits": list(hits)}} | changes
    return {"took": 1, "responses": [found, {**counted, "_shards": found["_shards"]} if changes else counted, entries]}


def read(body: object, size: int = 3) -> list[ScoredRecord]:
    return list(read_reply(body, class_ids=CLASSES, size=size, words=2).found)


def test_best_first_ties_by_record_id_and_equal_sums_tie() -> None:
    body = reply(hit("b", 1.0000001), hit("c", 2), hit("a", 1.0000002, "sha256:b"))
    assert read(body) == [ScoredRecord(2.0, "c"), ScoredRecord(1.0, "a"), ScoredRecord(1.0, "b")]


def test_what_the_words_weigh_is_what_a_record_could_score() -> None:
    read_of = read_reply(reply(), class_ids=CLASSES, size=3, words=2)
    assert read_of.weight == pytest.approx(math.log(1 + 4.5 / 3.5) + math.log(1 + 6.5 / 1.5))


def test_no_hits_are_an_answer() -> None:
    assert read(reply()) == []


LIES: dict[str, Callable[[dict[str, Any]], object]] = {
    "no object": lambda r: [r],
    "no responses": lambda r: {},
    "two responses": lambda r: {"responses": r["responses"] * 2},
    "a response that is none": lambda r: {"responses": [None]},
    "a count that is none": lambda r: r["responses"][1]["aggregations"]["words"]["buckets"][0].update(doc_count=-1),
    "too few counts": lambda r: r["responses"][1]["aggregations"]["words"]["buckets"].pop(),
    "no counts": lambda r: r["responses"][1].pop("aggregations"),
    "no number of entries": lambda r: r["responses"][2]["hits"]["total"].update(value=None),
    "no hits": lambda r: r["responses"][0].pop("hits"),
    "hits that are no list": lambda r: r["responses"][0].update(hits={"hits": {"a": 1}}),
    "a hit that is none": lambda r: r["responses"][0].update(hits={"hits": ["a"]}),
    "more hits than asked for": lambda r: r["responses"][0]["hits"]["hits"].extend(hit(f"x{i}", 1) for i in range(3)),
    "a record twice": lambda r: r["responses"][0]["hits"]["hits"].append(hit("a", 0.5)),
    "shards that are none": lambda r: r["responses"][0].update(_shards=[]),
    "no shards": lambda r: r["responses"][0].pop("_shards"),
    **{
        f"hit: {name}": lambda r, wrong=wrong: r["responses"][0]["hits"]["hits"].append(wrong)
        for name, wrong in {
            "another class": hit("z", 1.0, "sha256:c"),
            "a class that is no text": hit("z", 1.0, 7),
            "no class": {"sort": [1.0, "z"], "fields": {}},
            "two classes": {"sort": [1.0, "z"], "fields": {"class_id": list(CLASSES)}},
            "no fields": {"sort": [1.0, "z"]},
            "no sort": {"fields": {"class_id": ["sha256:a"]}},
            "a short sort": {"sort": [1.0], "fields": {"class_id": ["sha256:a"]}},
            "no record": hit(None, 1.0),
            "an empty record": hit("", 1.0),
            "a record that is a number": hit(7, 1.0),
            "no number": hit("z", "1.0"),
            "NaN": hit("z", float("nan")),
            "infinity": hit("z", float("inf")),
            "less than nothing": hit("z", -1.0),
            "truth": hit("z", True),
            "no score": hit("z", None),
        }.items()
    },
}


@pytest.mark.parametrize("lie", LIES)
def test_what_cannot_be_an_answer_is_a_fault(lie: str) -> None:
    body = reply(hit("a", 1.0))
    read(body)
    changed = LIES[lie](body)
    with pytest.raises(ChannelFault):
        read(changed if lie in {"no object", "no responses", "two responses", "a response that is none"} else body)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"timed_out": True}, ChannelTimeout),
        ({"timed_out": None}, ChannelTimeout),
        ({"_shards": {"total": 2, "successful": 1, "failed": 1}}, IndexInTransition),
        ({"_shards": {"total": 2, "successful": 1, "failed": 0}}, IndexInTransition),
        ({"error": {"type": "search_phase_execution_exception"}, "status": 400}, IndexNotReady),
        ({"error": {"type": "search_phase_execution_exception"}, "status": 503}, IndexInTransition),
        ({"error": {"type": "circuit_breaking_exception"}, "status": 429}, ChannelUnavailable),
        ({"error": {"type": "task_cancelled_exception"}, "status": 500}, ChannelTimeout),
        (
            {"error": {"type": "x", "root_cause": [{"type": "task_cancelled_exception"}]}, "status": 400},
            ChannelTimeout,
        ),
        ({"error": {"type": "x", "root_cause": [7, {"type": "y"}]}, "status": 500}, ChannelFault),
        ({"error": {"type": "null_pointer_exception"}, "status": 500}, ChannelFault),
        ({"error": {"type": "index_not_found_exception"}, "status": 404}, IndexInTransition),
        ({"error": "no", "status": 500}, ChannelFault),
        ({"_shards": {"total": 3, "successful": 3, "failed": 0}}, ChannelFault),
        ({"_shards": {"total": -1, "successful": -1, "failed": 0}}, ChannelFault),
        ({"error": {"type": "x"}}, ChannelFault),
    ],
)
def test_what_the_server_says_of_itself(changes: dict[str, Any], expected: type[Exception]) -> None:
    with pytest.raises(expected):
        read(reply(hit("a", 1.0), **changes))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=50)
@given(data=st.data())
def test_whatever_stands_in_its_place_is_an_answer_or_an_error_of_the_channel(data: st.DataObject) -> None:
    body: Any = copy.deepcopy(reply(hit("a", 1.0), hit("b", 0.5)))
    place, path = body, []
    while isinstance(place, dict | list) and place and (not path or data.draw(st.booleans())):
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        path.append((place, key))
        place = place[key]
    holder, key = path[-1]
    holder[key] = data.draw(JSON)
    try:
        found = read(json.loads(json.dumps(body)))
    except (ChannelError, IndexNotReady, IndexInTransition):
        return
    assert all(one.record_id and one.score >= 0 for one in found)
    assert len({one.record_id for one in found}) == len(found) <= 3
