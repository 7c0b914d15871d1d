"""Names of files by which folders of the product are known."""

from __future__ import annotations

WRITER_LOCK = "ingest.lock"
"""In a home: whoever walks over folders finds no sources beside it, but databases and keys."""
