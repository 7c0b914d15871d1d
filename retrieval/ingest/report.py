"""The report of a run of ingest, and what is said of each file in its row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from retrieval.ingest.prepare import PreparedDocument
from retrieval.model import RecordKind
from retrieval.registry.store import FileJob

Progress = Callable[[FileJob], None]
LEFT_OUT = "LEFT_OUT"
"""Code of a file that was taken in but for rows or features that its message names."""
NOTE = "NOTE"
"""Code of a file that was taken in whole, with a remark: it is no failure."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The report of a run: one row per file, in order, and the resulting corpus."""

    run_id: str
    files: tuple[FileJob, ...]
    superseded: tuple[str, ...]
    manifest_hash: str

    @property
    def failed(self) -> tuple[FileJob, ...]:
        """The files that were not taken in."""
        return tuple(file for file in self.files if file.state == "failed")

    @property
    def cut(self) -> tuple[FileJob, ...]:
        """The files of which something was left out."""
        return tuple(file for file in self.files if file.error_code == LEFT_OUT)


def counts_of(prepared: PreparedDocument) -> dict[str, int]:
    """The row's counts of records by kind."""
    kinds = [record.kind for record in prepared.parts.records]
    return {
        "passages": kinds.count(RecordKind.PASSAGE),
        "observations": kinds.count(RecordKind.OBSERVATION),
        "features": kinds.count(RecordKind.FEATURE),
    }


def told_of(prepared: PreparedDocument) -> dict[str, str]:
    """The row's word on what was left out, if anything was."""
    left, notes = prepared.parts.left_out, prepared.parts.notes
    if not left:
        return {"error_code": NOTE, "error_message": "; ".join(notes)[:500]} if notes else {}
    return {"error_code": LEFT_OUT, "error_message": f"{len(left)} left out: {'; '.join((*left, *notes))}"[:500]}
