"""Reading: the bytes of one file to its text and its records. It depends on nothing else, so that a process of its own
can do it (`retrieval.ingest.quarantine.quarantine`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from retrieval.algebra.wording import counted
from retrieval.errors import IngestError, LoadError
from retrieval.ingest.formats.load import load
from retrieval.ingest.records.chunk import ChunkSize, chunk
from retrieval.ingest.records.events import with_events
from retrieval.ingest.records.searchable import Suspicion, is_suspect, nothing_suspect
from retrieval.ingest.records.storable import require_storable
from retrieval.ingest.records.tables import read_table, with_inner_figures
from retrieval.ingest.values import About, LoadedFile, Owner, Parts, SourceSpec
from retrieval.media_types import DELIMITERS, FEATURES
from retrieval.model import RecordKind, headings_above

_OPENING = 3
"""Passages among which the first heading is looked for."""
Lookups = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class FileTask:
    """One file to read: whose records it makes, what kind it is, the tables that its rows look words up in, its
    bytes, and which sentences are suspect (something that pickle can name)."""

    source: SourceSpec
    owner: Owner
    media_type: str
    lookups: Lookups
    size: ChunkSize
    data: bytes = field(repr=False)
    suspect: Suspicion = nothing_suspect


@dataclass(frozen=True, slots=True)
class ReadFile:
    """The text of a file, its pages as (start_char, end_char), what it contributes, and what it says of itself."""

    text: str
    pages: tuple[tuple[int, int], ...]
    parts: Parts
    about: About = About()  # noqa: RUF009  frozen


Reader = Callable[[FileTask], ReadFile]
"""Reads one file. Raises `LoadError`; `LimitExceeded` where it has limits."""


def read_file(task: FileTask) -> ReadFile:
    """Reads it here and now, without limits. Raises `LoadError`, also where a parser was not ready for such a file, so
    that the others go on; `MemoryError`."""
    name = task.source.path.name
    try:
        return _read(name, task)
    except (IngestError, MemoryError):
        raise
    except RecursionError as exc:
        raise LoadError(f"{name}: it nests too deep to be read") from exc
    except Exception as exc:
        raise LoadError(f"{name}: its parser failed ({type(exc).__name__})") from exc


def _read(name: str, task: FileTask) -> ReadFile:
    loaded = load(name, task.data, task.media_type)
    parts = _parts(task, loaded)
    if not parts.records:
        raise LoadError(f"{name}: it holds nothing to retrieve")
    notes = (*loaded.notes, *parts.notes, *_suspects(task, parts))
    parts = replace(parts, left_out=(*loaded.slips, *parts.left_out), notes=notes)
    require_storable(name, loaded.text, parts)
    return ReadFile(loaded.text, loaded.pages, parts, _about(loaded, parts))


def _suspects(task: FileTask, parts: Parts) -> Iterator[str]:
    """That some passages are found by nobody, which who kept commands in them would not expect."""
    suspects = sum(r.kind is RecordKind.PASSAGE and is_suspect(r, task.suspect) for r in parts.records)
    if suspects:
        some = f"{counted(suspects, 'passage')} {'reads' if suspects == 1 else 'read'}"
        yield f"{some} like instructions to a model and will not be found (exhibit source suspects)"


def _about(loaded: LoadedFile, parts: Parts) -> About:
    """The document's description of itself; one without a title is called by its first heading, if it opens with
    one."""
    if loaded.about.title:
        return loaded.about
    paths = (headings_above(record.heading) for record in parts.records[:_OPENING])
    return replace(loaded.about, title=next((path[0] for path in paths if path), None))


def _parts(task: FileTask, loaded: LoadedFile) -> Parts:
    match loaded.media_type:
        case kind if kind in DELIMITERS:
            return read_table(task.source, loaded, task.owner, task.lookups)
        case kind if kind in FEATURES:
            from retrieval.ingest.records.features import read_features  # noqa: PLC0415  geometry is loaded for features only

            source = task.source
            return read_features(source.path.name, loaded, task.owner, source.table, task.lookups, kinds=source.kinds)
        case _:
            told = with_events(chunk(loaded, task.owner, task.size, task.source.skip, task.suspect))
            return with_inner_figures(told, task.source.title, task.owner)
