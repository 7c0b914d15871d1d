"""The filter language over metadata (requirement 002), parsed once into a value that has one meaning in every store.

A filter is a JSON object; all its members must hold. Operators name a field and an operand
(`{"gte": {"published_at": "2022-01-01"}}`): eq ne gt gte lt lte in nin contains_any contains_all exists. `any` and
`all` hold lists of filters, `not` one filter.

A field of a document has any number of values (a list has several, an absent field none), each a text, a number or a
truth value. `eq`, the comparisons, `in` and `contains_any` ask for one value that fits, `contains_all` for every
operand among the values; `ne` and `nin` are the negations of `eq` and `in`, so they hold where the field is absent.
Values of different kinds never compare.

Every value has a key: bytes whose order is the order of the values. Stores compare keys byte by byte, so collations,
number formats and date types have no say.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from retrieval.errors import FilterInvalid

Scalar: TypeAlias = str | int | float | bool
Metadata: TypeAlias = Mapping[str, Scalar | tuple[Scalar, ...]]
Comparison = Literal["lt", "lte", "gt", "gte"]

FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
MAX_DEPTH, MAX_CONDITIONS, MAX_OPERANDS, MAX_CHARS = 8, 100, 200, 500
_COMPARISONS: Mapping[str, Comparison] = {"lt": "lt", "lte": "lte", "gt": "gt", "gte": "gte"}
_LISTS = ("in", "nin", "contains_any", "contains_all")
OPERATORS = ("eq", "ne", *_COMPARISONS, *_LISTS, "exists")
_SIGN = 1 << 63
_ALL_BITS = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The field has one of the values."""

    field: str
    keys: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Compare:
    """The field has a value of the operand's kind that stands so to it."""

    field: str
    comparison: Comparison
    key: bytes


@dataclass(frozen=True, slots=True)
class Exists:
    """The field has a value."""

    field: str


@dataclass(frozen=True, slots=True)
class Every:
    """All parts hold; true without parts."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """One part holds; false without parts."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Filter


Filter: TypeAlias = AnyOf | Compare | Exists | Every | Some | Not
EVERYTHING = Every(())


def parse_filter(value: object, *, shorthand: bool = False) -> Filter:
    """The filter that a JSON value says. With `shorthand` (requirement 000) a member that is no operator is a field
    that equals its value, or one of its values. Raises `FilterInvalid`, which names the place and never the value."""
    return _Parser(shorthand).group(value, "filters", 1)


def canonical_filter(value: object) -> str:
    """The same text for the same JSON; for records and caches."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def key_of(value: Scalar) -> bytes:
    """The key of a value. Numbers are IEEE doubles. Raises ValueError for what is no value: not a number, infinite,
    lone surrogates."""
    if isinstance(value, bool):
        return b"b1" if value else b"b0"
    if isinstance(value, str):
        return b"s" + value.encode("utf-8")
    number = float(value) + 0.0
    if not math.isfinite(number):
        raise ValueError("not a finite number")
    (bits,) = struct.unpack(">Q", struct.pack(">d", number))
    return b"n" + struct.pack(">Q", bits ^ (_ALL_BITS if bits & _SIGN else _SIGN))


def value_of(key: bytes) -> str | float | bool:
    """The value of a key. A number comes back whole where it is whole."""
    match key[:1]:
        case b"b":
            return key == b"b1"
        case b"s":
            return key[1:].decode("utf-8")
        case _:
            (bits,) = struct.unpack(">Q", key[1:])
            (number,) = struct.unpack(">d", struct.pack(">Q", bits ^ (_SIGN if bits & _SIGN else _ALL_BITS)))
            return int(number) if number.is_integer() and abs(number) < 2**53 else float(number)


def keys_of(value: Scalar | Sequence[Scalar]) -> tuple[bytes, ...]:
    """The keys of a field's values."""
    return tuple(map(key_of, value)) if isinstance(value, list | tuple) else (key_of(value),)  # type: ignore[arg-type]


def bounds(condition: Compare) -> tuple[bytes, bytes]:
    """Lowest key, and the first key above all that fit: values of one kind are one range of keys."""
    kind, key = condition.key[:1], condition.key
    after = bytes([kind[0] + 1])
    following = key + b"\x00"  # no key lies between a key and this
    match condition.comparison:
        case "lt":
            return kind, key
        case "lte":
            return kind, following
        case "gt":
            return following, after
        case "gte":
            return key, after


class _Parser:
    """One parse, which counts conditions."""

    def __init__(self, shorthand: bool) -> None:
        self._shorthand = shorthand
        self._conditions = 0

    def group(self, value: object, where: str, depth: int) -> Filter:
        if not isinstance(value, Mapping):
            raise FilterInvalid(where, "an object is expected")
        if depth > MAX_DEPTH:
            raise FilterInvalid(where, f"filters nest at most {MAX_DEPTH} deep")
        parts = tuple(part for name, body in value.items() for part in self._member(str(name), body, where, depth))
        return parts[0] if len(parts) == 1 else Every(parts)

    def _member(self, name: str, body: object, where: str, depth: int) -> Iterator[Filter]:
        here = f"{where}.{name}" if name in OPERATORS or name in ("any", "all", "not") else where
        match name:
            case "any":
                yield Some(tuple(self._list(body, here, depth)))
            case "all":
                yield Every(tuple(self._list(body, here, depth)))
            case "not":
                yield Not(self.group(body, here, depth + 1))
            case _ if name in OPERATORS:
                if not isinstance(body, Mapping) or not body:
                    raise FilterInvalid(here, "an object of field and operand is expected")
                for field, operand in body.items():
                    yield self._condition(name, str(field), operand, here)
            case _ if self._shorthand:
                yield self._condition("in" if isinstance(body, list) else "eq", name, body, where)
            case _:
                raise FilterInvalid(where, f"unknown operator; known are any, all, not, {', '.join(OPERATORS)}")

    def _list(self, body: object, where: str, depth: int) -> Iterator[Filter]:
        if not isinstance(body, list) or not body:
            raise FilterInvalid(where, "a list of filters is expected")
        for part in body:
            yield self.group(part, where, depth + 1)

    def _condition(self, operator: str, field: str, operand: object, where: str) -> Filter:
        self._conditions += 1
        if self._conditions > MAX_CONDITIONS:
            raise FilterInvalid(where, f"at most {MAX_CONDITIONS} conditions are allowed")
        if not FIELD.fullmatch(field):
            raise FilterInvalid(where, "not the name of a field")
        match operator:
            case "ne" | "nin":
                return Not(self._positive("eq" if operator == "ne" else "in", field, operand, where))
            case "contains_all":
                return Every(tuple(AnyOf(field, (key,)) for key in _keys(operand, where)))
            case "exists" if not isinstance(operand, bool):
                raise FilterInvalid(where, "true or false is expected")
            case "exists":
                return Exists(field) if operand else Not(Exists(field))
            case _:
                return self._positive(operator, field, operand, where)

    def _positive(self, operator: str, field: str, operand: object, where: str) -> Filter:
        if operator in _COMPARISONS:
            return Compare(field, _COMPARISONS[operator], _key(operand, where))
        return AnyOf(field, (_key(operand, where),) if operator == "eq" else _keys(operand, where))


def _key(operand: object, where: str) -> bytes:
    if not isinstance(operand, str | int | float) or (isinstance(operand, str) and len(operand) > MAX_CHARS):
        raise FilterInvalid(where, f"a text of at most {MAX_CHARS} characters, a number, true or false is expected")
    try:
        return key_of(operand)
    except (ValueError, OverflowError):
        raise FilterInvalid(where, "not a value that can be compared") from None


def _keys(operand: object, where: str) -> tuple[bytes, ...]:
    if not isinstance(operand, list) or len(operand) > MAX_OPERANDS:
        raise FilterInvalid(where, f"a list of at most {MAX_OPERANDS} values is expected")
    return tuple(dict.fromkeys(_key(each, where) for each in operand))
