"""The network, run by ONNX Runtime on the CPU: texts in, vectors out.

Its files are checked against their digests before a byte of them is interpreted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai.errors import ReaderUnavailable
from ai.models.reader.encoding import PieceReader
from ai.models.reader.files import FOLDER, checked

WIDTH = 384
_AT_ONCE = 8


class Network:
    """A session over the shipped file. A function of its arguments and the file; safe to call from several threads."""

    def __init__(self, session: Any, pieces: PieceReader) -> None:
        self._session, self.pieces = session, pieces

    @classmethod
    def load(cls, folder: Path = FOLDER, *, threads: int = 2) -> Network:
        """Open the files. Raises `ReaderUnavailable` where one is missing or is not the one that was shipped, and
        where the processor or the runtime cannot run it."""
        read = {name: checked(folder, name) for name in ("reader.onnx", "tokenizer.json")}
        try:
            import onnxruntime  # noqa: PLC0415  (heavy: only who reads prose loads it)

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads, options.inter_op_num_threads = min(threads, os.cpu_count() or 1), 1
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            options.log_severity_level = 3
            session = onnxruntime.InferenceSession(read["reader.onnx"], options, providers=["CPUExecutionProvider"])
            made = cls(session, PieceReader(read["tokenizer.json"]))
            made.embed(["whether it runs"])
        except Exception as exc:  # whatever a native library raises, the lexical judge can do without it
            raise ReaderUnavailable(f"the reader cannot be run here: {type(exc).__name__}") from exc
        return made

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of the texts, (texts, 384). Texts of like length go together, so that little is padding."""
        read = self.pieces.read(texts)
        order = sorted(range(len(read)), key=lambda at: len(read[at]))
        vectors = np.zeros((len(texts), WIDTH), np.float32)
        for start in range(0, len(order), _AT_ONCE):
            group = order[start : start + _AT_ONCE]
            ids = np.zeros((len(group), len(read[group[-1]])), np.int64)
            mask = np.zeros(ids.shape, np.float32)
            for row, at in enumerate(group):
                ids[row, : len(read[at])], mask[row, : len(read[at])] = read[at], 1
            vectors[group] = self._session.run(None, {"ids": ids, "mask": mask})[0]
        return vectors
