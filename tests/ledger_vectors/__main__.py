"""Writes all vectors."""

from __future__ import annotations

import asyncio
import json

from tests.ledger_vectors import FOLDER
from tests.ledger_vectors.cosignatures import cosignatures
from tests.ledger_vectors.golden import golden
from tests.ledger_vectors.leaves import leaves
from tests.ledger_vectors.notes import checkpoints, notes, vkeys
from tests.ledger_vectors.proofs import proofs
from tests.ledger_vectors.receipts import receipts

FOLDER.mkdir(parents=True, exist_ok=True)
made = asyncio.run(golden())
every = {
    "golden": made,
    "proofs": proofs(),
    "vkeys": vkeys(),
    "notes": notes(),
    "checkpoints": checkpoints(),
    "cosignatures": cosignatures(),
    "leaves": leaves(),
    "receipts": receipts(made),
}
for name, content in every.items():
    (FOLDER / f"{name}.json").write_text(json.dumps(content, indent=1, ensure_ascii=True) + "\n")
