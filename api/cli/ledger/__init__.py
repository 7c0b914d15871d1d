"""`exhibit ledger`: what was recorded, and whether it still holds. One module per verb."""

from __future__ import annotations

import typer

from api.cli.ledger.attest import attest
from api.cli.ledger.bisect import bisect
from api.cli.ledger.claim import claim
from api.cli.ledger.diff import diff
from api.cli.ledger.list_entries import list_entries
from api.cli.ledger.package import package
from api.cli.ledger.proof import proof
from api.cli.ledger.receipt import receipt
from api.cli.ledger.report import report
from api.cli.ledger.search import search
from api.cli.ledger.show import show
from api.cli.ledger.upkeep import key, witness
from api.cli.ledger.upkeep.checkpoint import checkpoint
from api.cli.ledger.upkeep.export import export
from api.cli.ledger.upkeep.prepare import prepare
from api.cli.ledger.upkeep.redact import redact
from api.cli.ledger.upkeep.scrub import scrub
from api.cli.ledger.verify import verify

app = typer.Typer(help="Read and verify the ledger.", no_args_is_help=True, add_completion=False, rich_markup_mode=None)
app.command("list")(list_entries)
app.command()(search)
app.command()(show)
app.command()(diff)
app.command()(bisect)
app.command()(verify)
app.command()(checkpoint)
app.command()(proof)
app.command()(claim)
app.command()(receipt)
app.command()(package)
app.command()(attest)
app.command()(report)
app.command()(export)
app.command()(redact)
app.command()(scrub)
app.command()(prepare)
app.add_typer(key.app, name="key")
app.add_typer(witness.app, name="witness")
