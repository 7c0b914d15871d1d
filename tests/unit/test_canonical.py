"""The fast canonical encoder is RFC 8785 for what the pipeline records, and the codec's inverse is exact."""

from __future__ import annotations

from datetime import date

import cattrs
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from ai.canonical import canonical, coordinate, digest, from_json, to_json
from retrieval.algebra.operations import Lookup, Neighbours, WithinDistance
from retrieval.model import ChannelName, Computation, Hit, Intent, Query, Run, TimeRange
from retrieval.scope import Scope

_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_KEYS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(_JSON)
def test_equals_rfc_8785(value: object) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@given(st.floats(-180, 180))
def test_coordinates_are_written_as_rfc_8785_writes_them(degrees: float) -> None:
    number = coordinate(repr(degrees))
    assert abs(number - degrees) < 1e-4
    assert canonical([number]) == rfc8785.dumps([number])


def test_digest_names_its_algorithm() -> None:
    assert digest({}) == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "-1e999"])
def test_a_coordinate_is_finite(text: str) -> None:
    with pytest.raises(ValueError):
        coordinate(text)


@pytest.mark.parametrize(
    "value",
    ["\ud800", {"a": "x\udfff"}, {1, 2}, b"bytes", frozenset(), date(1861, 1, 29), Scope("t", frozenset())],
)
def test_refuses_what_has_no_canonical_form(value: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        canonical(value)


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.dates(date(1, 1, 1), date(9000, 1, 1)),
    st.dictionaries(_KEYS, st.integers() | _TEXT | st.lists(st.integers(), max_size=3), max_size=3),
)
def test_codec_gives_back_what_it_took(score: float, day: date, result: dict[str, object]) -> None:
    computed = Computation("change", {"measure": "population"}, ("a", "b"), "sha256:00", result, "It grew.")
    run = Run(ChannelName.SPATIAL, "sqlite", (Hit(1, computed.record_id, score, computed, ("a -b-> c",)),))
    assert from_json(to_json(run), Run) == run
    intent = Intent(
        times=(TimeRange(day, day),),
        operations=(Lookup("m", ("p",), 1930), Neighbours("p"), WithinDistance("p", "city", 12.5)),
    )
    query = Query("q", Scope("t", frozenset({"b", "a"})), 8, intent, (-102.1, 36.9, -94.6, 40.0))
    assert from_json(to_json(query), Query) == query
    canonical(to_json(query))


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"channel": "nobody", "store": "s", "hits": [], "limitations": []},
        {"channel": "neo4j", "store": "s", "hits": [{"rank": "first"}], "limitations": []},
        {"channel": "neo4j", "store": "s", "hits": [], "limitations": [], "extra": 1},
        [],
        None,
    ],
)
def test_a_recorded_value_of_another_shape_is_refused(value: object) -> None:
    with pytest.raises((cattrs.BaseValidationError, ValueError, TypeError)):
        from_json(value, Run)


def test_a_fraction_in_a_computed_result_is_refused() -> None:
    with pytest.raises(ValueError, match="fraction"):
        to_json(Computation("mean", {}, (), "sha256:00", {"value": [0.5]}, ""))
