"""Bodies that are read as they arrive: how many at one time, how long, how much; and the parts of a form."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fastapi import Request
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header

from api.errors import HeadTimeout, MalformedBody, Overloaded, PayloadTooLarge, UnsupportedMediaType

AT_ONE_TIME = 8
STREAMED = ("/api/v1/documents", "/api/v1/uploads")
"""Paths whose bodies the routes read themselves."""
_HEADER_BYTES = 8_192


class Sending:
    """Counts the bodies that arrive now. One event loop."""

    def __init__(self) -> None:
        self._now = 0

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Take a place. Raises Overloaded where none is free: whoever waited would hold a connection open."""
        if self._now >= AT_ONE_TIME:
            raise Overloaded("Too many files arrive at one time; try again shortly.")
        self._now += 1
        try:
            yield
        finally:
            self._now -= 1


async def body_of(request: Request, *, most: int, idle_s: float) -> AsyncIterator[bytes]:
    """The body in the pieces in which it arrives. Raises PayloadTooLarge, MalformedBody where the client goes away,
    HeadTimeout where nothing comes for so long."""
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length[:20]) > most:
        raise PayloadTooLarge(f"The body may have at most {most} bytes.")
    size, more = 0, True
    while more:
        limit = asyncio.timeout(idle_s)
        try:
            async with limit:
                message = await request.receive()
        except TimeoutError as exc:
            if not limit.expired():
                raise
            raise HeadTimeout("The body of the request did not arrive in time.") from exc
        if message["type"] == "http.disconnect":
            raise MalformedBody("The body ended before it was complete.")
        size += len(message.get("body", b""))
        if size > most:
            raise PayloadTooLarge(f"The body may have at most {most} bytes.")
        more = message.get("more_body", False)
        if message.get("body"):
            yield message["body"]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a form begins: its name and, of a file, the name of that."""

    name: str
    file: str | None


Heard = Part | bytes | None
"""A part begins, its next bytes, it has ended."""


async def parts_of(request: Request, *, most: int, idle_s: float) -> AsyncIterator[Heard]:
    """The parts of a form as they arrive. Raises UnsupportedMediaType, MalformedBody, and as `body_of`."""
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise UnsupportedMediaType("The content type must be multipart/form-data.")
    parsing = _Parsing(options[b"boundary"])
    async for piece in body_of(request, most=most, idle_s=idle_s):
        for heard in parsing.feed(piece):
            yield heard
    if not parsing.whole:
        raise MalformedBody("The form ended before it was complete.")


class _Parsing:
    """The calls of the parser, as values in order."""

    def __init__(self, boundary: bytes) -> None:
        self.whole = False
        self._heard: list[Heard] = []
        self._headers: dict[bytes, bytes] = {}
        self._name, self._value = b"", b""
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._field,
                "on_header_value": self._said,
                "on_header_end": self._header,
                "on_headers_finished": self._begun,
                "on_part_data": lambda data, start, end: self._heard.append(data[start:end]),
                "on_part_end": lambda: self._heard.append(None),
                "on_end": self._ended,
            },
        )

    def feed(self, piece: bytes) -> list[Heard]:
        """The values that the next piece of the body holds. Raises MalformedBody."""
        self._heard = []
        try:
            self._parser.write(piece)
        except MultipartParseError:
            raise MalformedBody("The body is not a form.") from None
        return self._heard

    def _begin(self) -> None:
        self._headers = {}

    def _field(self, data: bytes, start: int, end: int) -> None:
        self._name = self._bounded(self._name + data[start:end])

    def _said(self, data: bytes, start: int, end: int) -> None:
        self._value = self._bounded(self._value + data[start:end])

    def _header(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name, self._value = b"", b""

    def _begun(self) -> None:
        kind, options = parse_options_header(self._headers.get(b"content-disposition"))
        name = options.get(b"name")
        if kind != b"form-data" or name is None:
            raise MalformedBody("A part of the form has no name.")
        try:
            file = options[b"filename"].decode() if b"filename" in options else None
            self._heard.append(Part(name.decode(), file))
        except UnicodeDecodeError:
            raise MalformedBody("A name in the form is not UTF-8.") from None

    def _ended(self) -> None:
        self.whole = True

    @staticmethod
    def _bounded(data: bytes) -> bytes:
        if len(data) > _HEADER_BYTES:
            raise MalformedBody("A header of a part is too long.")
        return data
