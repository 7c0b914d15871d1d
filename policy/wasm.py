"""The embedded engine: the bundle, compiled by OPA to WebAssembly, run by wasmtime (OPA's WebAssembly ABI 1.2).

An evaluation is bounded three ways: fuel (instructions, in proportion to the deadline), memory pages, and the size of
its input. Every trap and abort is PolicyUnavailable and costs the instance its life, because a trapped heap cannot be
trusted.

Small inputs are evaluated on the event loop: an evaluation of 50 items takes about as long as the two thread switches
that would move it elsewhere. Larger inputs go to an own bounded pool of threads; wasmtime releases the interpreter
while it runs.
"""

from __future__ import annotations

import asyncio
import atexit
import ctypes
import json
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from policy.bundles.bundle import Bundle
from policy.engine import MAX_INPUT_BYTES, Reply
from policy.errors import BundleRejected, PolicyUnavailable

if TYPE_CHECKING:
    import wasmtime

INLINE_BYTES = 48 * 1024
FUEL_PER_SECOND = 1_000_000_000  # at least this much is burnt in a second on slow hardware
_PAGE = 65_536
_MAX_PAGES = 1_024  # 64 MiB
_MIN_PAGES = 6  # what the module itself asks for at least

_ENTRANCE = """
(module
  (import "opa" "opa_eval" (func $opa_eval (param i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (func (export "evaluate") (param $entrypoint i32) (param $length i32) (result i32)
    (call $opa_eval (i32.const 0) (local.get $entrypoint) (i32.const {data}) (i32.const {heap}) (local.get $length)
      (i32.add (i32.const {heap}) (local.get $length)) (i32.const 0))))
"""


class WasmEngine:
    """PolicyEngine over a compiled bundle. `open` compiles (0.15 s on two free cores): call it in a thread."""

    def __init__(self, *, bundle: Bundle, engine: wasmtime.Engine, module: wasmtime.Module, workers: int) -> None:
        self._bundle = bundle
        self._engine = engine
        self._module = module
        self._idle: deque[_Instance] = deque()
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="policy")
        self._closed = False

    @classmethod
    def open(cls, bundle: Bundle, *, workers: int = 2) -> WasmEngine:
        """Compile the bundle's module and make a first instance.

        Raises BundleRejected where it cannot serve the entry points.
        """
        try:
            engine, module = _compiled(bundle.wasm)
            made = cls(bundle=bundle, engine=engine, module=module, workers=workers)
            made._idle.append(_Instance(engine, made._module, bundle.data_json))
        except _faults() as exc:
            raise BundleRejected(f"the module cannot be run: {_first_line(exc)}") from exc
        return made

    @property
    def name(self) -> str:
        """Product and module, as it is written into stamps."""
        return f"wasm:{self._bundle.wasm_sha256[:16]}"

    @property
    def bundle_digest(self) -> str:
        """Digest of the bundle."""
        return self._bundle.digest

    async def evaluate(self, entrypoint: str, input: bytes, *, deadline_s: float) -> Reply:
        """See PolicyEngine."""
        if self._closed:
            raise PolicyUnavailable("the policy engine is closed")
        if len(input) > MAX_INPUT_BYTES:
            raise PolicyUnavailable("the policy input is too large")
        if deadline_s <= 0:
            raise PolicyUnavailable("no time is left for the policy decision")
        fuel = int(deadline_s * FUEL_PER_SECOND)
        if len(input) <= INLINE_BYTES:
            return self._evaluate(entrypoint, input, fuel)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(deadline_s):
                return await loop.run_in_executor(self._threads, self._evaluate, entrypoint, input, fuel)
        except TimeoutError as exc:
            raise PolicyUnavailable(f"no policy decision within {deadline_s:g} s") from exc

    async def aclose(self) -> None:
        """See PolicyEngine."""
        if self._closed:
            return
        self._closed = True
        await asyncio.to_thread(self._threads.shutdown, wait=True, cancel_futures=True)
        self._idle.clear()

    def _evaluate(self, entrypoint: str, input: bytes, fuel: int) -> Reply:
        try:
            instance = self._take()
            results = instance.evaluate(entrypoint, input, fuel)
        except _faults() as exc:
            raise PolicyUnavailable(f"the policy engine stopped: {_first_line(exc)}") from exc
        self._idle.append(instance)
        return Reply(results=results, bundle_digest=self._bundle.digest)

    def _take(self) -> _Instance:
        """An idle instance or a new one (2 ms); never more than threads + 1 are in use at a time."""
        try:
            return self._idle.pop()
        except IndexError:
            return _Instance(self._engine, self._module, self._bundle.data_json)


@lru_cache(maxsize=2)  # the active bundle and a candidate beside it; compiling depends on nothing but the bytes
def _compiled(wasm: bytes) -> tuple[wasmtime.Engine, wasmtime.Module]:
    import wasmtime  # noqa: PLC0415  0.15 s: only who evaluates pays for it

    config = wasmtime.Config()
    config.consume_fuel = True
    engine = wasmtime.Engine(config)
    return engine, wasmtime.Module(engine, wasm)


atexit.register(_compiled.cache_clear)  # wasmtime frees its objects by functions that are gone when modules are cleared


class _ModuleAborted(Exception):
    """The module called abort, or asked for a built-in function of the host."""


class _Instance:
    """One instance with its memory. Not thread-safe."""

    def __init__(self, engine: wasmtime.Engine, module: wasmtime.Module, data_json: bytes) -> None:
        import wasmtime  # noqa: PLC0415

        self._store = wasmtime.Store(engine)
        self._store.set_fuel(FUEL_PER_SECOND)
        self._memory = wasmtime.Memory(self._store, wasmtime.MemoryType(wasmtime.Limits(_MIN_PAGES, _MAX_PAGES)))
        exports: Any = self._link(engine).instantiate(self._store, module).exports(self._store)
        self._exports = exports
        if (abi := exports["opa_wasm_abi_version"].value(self._store)) != 1:
            raise _ModuleAborted(f"ABI {abi} is not known")
        if json.loads(self._dump(self._call("builtins"))):
            raise _ModuleAborted("the module needs built-in functions of the host; write the rule without them")
        self._entrypoints: dict[str, int] = json.loads(self._dump(self._call("entrypoints")))
        self._data = self._parse(data_json)
        self._heap: int = self._call("opa_heap_ptr_get")
        self._evaluate = self._entrance(engine)
        self._see_memory()

    def evaluate(self, entrypoint: str, input: bytes, fuel: int) -> bytes:
        """The result set as JSON. The heap is reset by starting anew from where the data ends."""
        if entrypoint not in self._entrypoints:
            raise _ModuleAborted(f"no entry point {entrypoint}")
        if self._heap + len(input) > self._size:
            self._reserve(self._heap + len(input))
            self._see_memory()
        ctypes.memmove(self._base + self._heap, input, len(input))
        self._store.set_fuel(fuel)
        found = self._evaluate(self._store, self._entrypoints[entrypoint], len(input))
        if not found:
            raise _ModuleAborted("the input could not be read")
        return self._text(found)

    def _see_memory(self) -> None:
        """Where the memory lies and how large it is: only the module's own work changes that, and each question to it
        costs as much as a tenth of an evaluation."""
        self._size: int = self._memory.data_len(self._store)
        self._base: int = ctypes.addressof(self._memory.data_ptr(self._store).contents)

    def _link(self, engine: wasmtime.Engine) -> wasmtime.Linker:
        import wasmtime  # noqa: PLC0415

        i32 = wasmtime.ValType.i32()
        linker = wasmtime.Linker(engine)
        linker.define(self._store, "env", "memory", self._memory)
        for arity in range(5):
            kind = wasmtime.FuncType([i32] * (arity + 2), [i32])
            linker.define(self._store, "env", f"opa_builtin{arity}", wasmtime.Func(self._store, kind, _no_builtin))
        kind = wasmtime.FuncType([i32], [])
        linker.define(self._store, "env", "opa_abort", wasmtime.Func(self._store, kind, self._abort))
        linker.define(self._store, "env", "opa_println", wasmtime.Func(self._store, kind, lambda _address: None))
        return linker

    def _entrance(self, engine: wasmtime.Engine) -> Any:
        """`opa_eval` with all but the entry point and the input's length filled in: each argument that crosses from
        Python costs as much as a tenth of the evaluation."""
        import wasmtime  # noqa: PLC0415

        linker = wasmtime.Linker(engine)
        linker.define(self._store, "opa", "opa_eval", self._exports["opa_eval"])
        module = wasmtime.Module(engine, _ENTRANCE.format(data=self._data, heap=self._heap))
        return linker.instantiate(self._store, module).exports(self._store)["evaluate"]

    def _abort(self, address: int) -> None:
        raise _ModuleAborted(self._text(address).decode("utf-8", "replace"))

    def _call(self, name: str, *arguments: int) -> Any:
        return self._exports[name](self._store, *arguments)

    def _parse(self, text: bytes) -> int:
        place: int = self._call("opa_malloc", len(text))
        self._memory.write(self._store, text, place)
        value: int = self._call("opa_json_parse", place, len(text))
        self._call("opa_free", place)
        if not value:
            raise _ModuleAborted("the policy data could not be read")
        return value

    def _dump(self, address: int) -> bytes:
        return self._text(self._call("opa_json_dump", address))

    def _text(self, address: int) -> bytes:
        """The bytes from `address` up to the next zero byte."""
        self._see_memory()  # it may have grown
        start, step = address, 4_096
        found = bytearray()
        while 0 <= start < self._size:
            part = ctypes.string_at(self._base + start, min(step, self._size - start))
            if (zero := part.find(b"\0")) >= 0:
                return bytes(found + part[:zero])
            found += part
            start, step = start + len(part), step * 4
        raise _ModuleAborted("a text has no end")

    def _reserve(self, size: int) -> None:
        missing = size - self._memory.data_len(self._store)
        if missing > 0:
            self._memory.grow(self._store, -(-missing // _PAGE))


def _no_builtin(*_arguments: int) -> int:
    raise _ModuleAborted("the module asked for a built-in function of the host")


def _faults() -> tuple[type[Exception], ...]:
    """Faults of a module towards its host: traps, aborts, exports, addresses or texts that are not as they should
    be."""
    import wasmtime  # noqa: PLC0415

    return (wasmtime.WasmtimeError, wasmtime.Trap, _ModuleAborted, LookupError, ValueError, TypeError)


def _first_line(exc: BaseException) -> str:
    return (str(exc).splitlines() or [type(exc).__name__])[0][:200]
