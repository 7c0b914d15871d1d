"""What several files were refused for is told once, with their number; a refusal of one file stays in its row."""

from __future__ import annotations

import pytest

from api.cli.corpus.ingest import report_text
from retrieval.ingest.report import IngestReport
from retrieval.registry.store import FileJob


def told(messages: list[str]) -> str:
    files = tuple(
        FileJob(
            *("run", place, "t", f"/in/f{place}.md", f"f{place}", "failed"),
            error_code="VALIDATION_FAILED",
            error_message=message,
        )
        for place, message in enumerate(messages)
    )
    return report_text(IngestReport(run_id="run", files=files, superseded=(), manifest_hash="sha256:0"))


@pytest.mark.parametrize("count", [2, 3, 40])
def test_one_reason_of_many_files_is_told_once(count: int) -> None:
    text = told(["no label"] * count)
    assert text.count("no label") == 1
    assert f"{count} files: no label" in text
    assert all(f"f{place}.md" in text for place in range(count))


def test_reasons_of_one_file_each_stay_in_their_rows() -> None:
    text = told(["no label", "not UTF-8"])
    assert "files:" not in text
    assert {line.split()[0] for line in text.splitlines() if "VALIDATION_FAILED: " in line} == {"f0.md", "f1.md"}
