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
from api.cli.policy.publish import accept, publish, rollback
from api.cli.policy.shadow import shadow
from api.cli.policy.sign import sign
from api.cli.policy.status import status
from api.cli.policy.test import test

app = typer.Typer(
    help="Write, test, publish and roll back the policy bundle.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
app.command(short_help="the bundle in force, and where it comes from")(status)
app.command(short_help="find what is wrong before it runs")(check)
app.command(short_help="own tests, decision vectors and canary")(test)
app.command("eval", short_help="put one input to one point")(evaluate)
app.command(short_help="which lines tests and vectors evaluate")(coverage)
app.command(short_help="who sees what, in every cell")(lattice)
app.command(short_help="decide recorded requests again")(backtest)
app.command(short_help="would the tests notice a broken rule?")(mutate)
app.command(short_help="copy the bundle in force to work on it")(export)
app.command(short_help="compile changed rules")(build)
app.command(short_help="sign a bundle, for homes that pin keys")(sign)
app.command(short_help="try a bundle on every gate, then let it decide")(publish)
app.command(short_help="as a second person, let a proposed bundle decide")(accept)
app.command(short_help="let the bundle before decide again")(rollback)
app.command(short_help="let a candidate decide beside, to no effect")(shadow)
app.command(short_help="why an answer has this evidence")(explain)
