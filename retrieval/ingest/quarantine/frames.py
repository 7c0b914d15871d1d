"""Messages between two processes over a socket: a length of eight bytes, then the bytes."""

from __future__ import annotations

import socket
import time

_HEAD = 8


def send(connection: socket.socket, message: bytes, *, until_s: float | None = None) -> None:
    """Sends a message. `until_s` is a moment of `time.monotonic`. Raises `TimeoutError` after it, `OSError` where
    nobody is there."""
    _wait(connection, until_s)
    connection.sendall(len(message).to_bytes(_HEAD, "big"))
    connection.sendall(message)


def receive(connection: socket.socket, *, largest: int, until_s: float | None = None) -> bytes:
    """The next message. Raises `EOFError` where the other side has ended, or sends more than `largest` bytes,
    `TimeoutError` after the moment `until_s`."""
    length = int.from_bytes(_exactly(connection, _HEAD, until_s), "big")
    if length > largest:
        raise EOFError(f"a message of {length} bytes")
    return _exactly(connection, length, until_s)


def _exactly(connection: socket.socket, length: int, until_s: float | None) -> bytes:
    held = bytearray(length)
    left = memoryview(held)
    while left:
        _wait(connection, until_s)
        count = connection.recv_into(left)
        if not count:
            raise EOFError("the other side has ended")
        left = left[count:]
    left.release()
    return bytes(held)


def _wait(connection: socket.socket, until_s: float | None) -> None:
    connection.settimeout(None if until_s is None else max(until_s - time.monotonic(), 0.001))
