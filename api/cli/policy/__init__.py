"""`exhibit policy`: the bundle that decides, and whether it decides as it should. One module per verb."""

from __future__ import annotations

import typer

from api.cli.policy.author import build, export
from api.cli.policy.backtest import backtest
from api.cli.policy.check import check
from api.cli.policy.coverage import coverage
from api.cli.policy.evaluate import evaluate
from api.cli.policy.explain import explain
from api.cli.policy.lattice import lattice
from api.cli.policy.mutate import mutate
from api.cli.policy.publish import publish, rollback
from api.cli.policy.shadow import shadow
from api.cli.policy.status import status
from api.cli.policy.test import test

app = typer.Typer(
    help="Write, test, publish and roll back the policy bundle.", no_args_is_help=True, rich_markup_mode=None
)
app.command()(status)
app.command()(check)
app.command()(test)
app.command("eval")(evaluate)
app.command()(coverage)
app.command()(lattice)
app.command()(backtest)
app.command()(mutate)
app.command()(export)
app.command()(build)
app.command()(publish)
app.command()(rollback)
app.command()(shadow)
app.command()(explain)
