"""`exhibit doctor`: what is wrong with a folder, and the next command."""

from __future__ import annotations

import asyncio
import shutil
import stat
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from api.cli.console import configuration, counted, emit, styled
from api.cli.options import AsJson, Home
from api.problems import EXIT_FAILED, EXIT_VERIFICATION, problem_of
from retrieval.files.seal import PLAIN

if TYPE_CHECKING:
    from api.home.configuration import Configuration
    from ledger.ledger import Ledger

app = typer.Typer(help="Find what is wrong and name the next command.", add_completion=False, rich_markup_mode=None)
LEAST_FREE_BYTES = 256 * 1024 * 1024
MOST_VERIFIED_ENTRIES = 50_000
MOST_NAMED = 20
APART_MS = 60_000  # by which the clocks of two machines may differ
PATIENCE_S = 20.0  # for what is one question to a server
WITHOUT_SERVER_S = 5.0  # for what is looked at after a server that does not answer
REBUILD = "exhibit index rebuild"
SHOW_SETTINGS = "exhibit config show --origin"
_MARKS = {"ok": ("ok  ", "32"), "warning": ("warn", "33"), "failed": ("FAIL", "31")}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `next` is the command that helps, if any; `damaged`: it is not what was stored."""

    name: str
    state: Literal["ok", "warning", "failed"]
    detail: str
    next: str | None = None
    damaged: bool = False


@app.command()
def doctor(
    *,
    repair: Annotated[
        bool, typer.Option("--repair", help="First make the channels hold what the store of record holds.")
    ] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Look at settings, folder, disk, servers, corpus, indexes, policy, ledger, keys, model. Exit code 1: something
    failed; 7: something is not what was stored."""
    findings = asyncio.run(_all(lambda: configuration(home), repair=repair))
    emit(
        [asdict(finding) for finding in findings], as_json=as_json, render=lambda: "\n".join(_line(f) for f in findings)
    )
    if any(finding.damaged for finding in findings):
        raise typer.Exit(EXIT_VERIFICATION)
    if any(finding.state == "failed" for finding in findings):
        raise typer.Exit(EXIT_FAILED)


async def _all(configured: Callable[[], Configuration], *, repair: bool) -> list[Finding]:
    """Each look on its own: one that fails does not hide the rest."""
    try:
        settings = configured()
    except Exception as exc:
        return [Finding("settings", "failed", problem_of(exc).local, SHOW_SETTINGS)]
    changed = len(settings.origins) - 1
    findings = [Finding("settings", "ok", f"{counted(changed, 'setting')} changed from the defaults")]
    looks = {"repair": _repaired, **_LOOKS} if repair else _LOOKS
    for name, look in looks.items():
        down = any(f.name.startswith("server") and f.state == "failed" for f in findings)
        patience_s = patience_of(name, settings, down=down)
        try:
            async with asyncio.timeout(patience_s):
                findings += [finding async for finding in look(settings)]
        except TimeoutError:
            findings.append(Finding(name, "failed", f"its server gave no answer within {patience_s:g} s"))
        except Exception as exc:
            problem = problem_of(exc)
            follow = _OTHERWISE.get(name, SHOW_SETTINGS)
            findings.append(Finding(name, "failed", problem.local, follow, problem.exit == EXIT_VERIFICATION))
    return findings


def patience_of(look: str, configured: Configuration, *, down: bool) -> float | None:
    """Seconds that a look may take; None for one that asks no server: a slow machine is not a silent one. `down` says
    that a server did not answer before."""
    from api.home.backends import backends_of
    from api.home.stores import Embedded, Extractive, Wordllama

    chosen = backends_of(configured)
    asked: dict[str, tuple[object, ...]] = {
        "contents": (chosen.records,),
        "corpus": (chosen.records, chosen.graph, chosen.spatial, chosen.fulltext, chosen.vector, chosen.embedding),
        "ledger": (chosen.ledger.store,),
        "erasures": (chosen.ledger.store, chosen.records),
        "model": (chosen.chat,),
        "embedder": (chosen.embedding,),
    }
    if all(isinstance(each, Embedded | Extractive | Wordllama) for each in asked.get(look, ())):
        return None
    return WITHOUT_SERVER_S if down else PATIENCE_S if look in _ASKING else None


async def _repaired(configured: Configuration) -> AsyncIterator[Finding]:
    from api.wiring import open_ingest, require_corpus

    require_corpus(configured)
    async with open_ingest(configured) as ingest:
        mended = await ingest.repair_all()
    yield Finding("repair", "ok", f"{mended} tenants compared, every channel repaired")


async def _servers(configured: Configuration) -> AsyncIterator[Finding]:
    """Each server that the settings name, asked as a question would ask it."""
    from api.cli.diagnosis import ASK_THE_LOG, is_server, next_command
    from api.http.health import examine
    from api.wiring import open_system
    from ledger.errors import LedgerNotResponding

    stores, models = configured.settings.stores, configured.settings.models
    named = (stores.neo4j_uri, stores.postgis_dsn, stores.opensearch_url, stores.opa_url, models.chat, models.embed)
    if not any((*named, configured.settings.ledger.dsn)) or not configured.home.is_dir():
        return
    try:
        async with open_system(configured, empty=True) as system:
            parts = await examine(system)
    except LedgerNotResponding as exc:  # without it nothing is opened, so the others are not asked
        yield Finding("server ledger", "failed", f"postgresql: {problem_of(exc).local}", ASK_THE_LOG)
        return
    for part, health in parts.items():
        if is_server(health):
            told = health.said if health.said else f"answers in {health.latency_ms:g} ms"
            state: Literal["ok", "failed"] = "ok" if health.ok else "failed"
            yield Finding(f"server {part}", state, f"{health.store}: {told}", next_command(part, health))


async def _home(configured: Configuration) -> AsyncIterator[Finding]:
    from api.home.folder import is_open

    home = configured.home
    if not home.is_dir():
        yield Finding("home", "failed", f"{home} is not a folder", f"exhibit ingest PATH --home {home}")
        return
    try:
        with tempfile.TemporaryFile(dir=home):
            pass
    except OSError as exc:
        yield Finding("home", "failed", f"{home} cannot be written: {exc.strerror}")
        return
    if is_open(home):
        yield Finding("home", "failed", f"{home} is open to other users", f"chmod -R go= {home}")
        return
    free = shutil.disk_usage(home).free
    if free < LEAST_FREE_BYTES:
        yield Finding("home", "warning", f"{home} has {free // 1_048_576} MiB left")
    else:
        yield Finding("home", "ok", f"{home} can be written, {free // 1_073_741_824} GiB left")
    if configured.seal is not PLAIN:
        yield _encryption(configured)


def _encryption(configured: Configuration) -> Finding:
    """An encrypted home covers its own files; what servers hold of the documents lies on their disks as it is."""
    stores, told = configured.settings.stores, "the home is encrypted, and the key opens it"
    servers = {"PostgreSQL": stores.postgis_dsn, "OpenSearch": stores.opensearch_url, "Neo4j": stores.neo4j_uri}
    plain = [name for name, address in servers.items() if address]
    if not plain:
        return Finding("encryption", "ok", told)
    return Finding("encryption", "warning", f"{told}; not so the documents on {', '.join(plain)}: encrypt those disks")


async def _corpus(configured: Configuration) -> AsyncIterator[Finding]:
    from api.cli.corpus.index import compared
    from api.errors import EdgeError
    from retrieval.errors import ChannelError, RetrievalError, StoreNotResponding

    try:
        found = await compared(configured)
    except StoreNotResponding as exc:  # its server has a finding of its own
        yield Finding("corpus", "failed", problem_of(exc).local)
        return
    except ChannelError:  # a channel that cannot even be opened: its settings are wrong
        raise
    except (RetrievalError, EdgeError) as exc:
        yield Finding("corpus", "failed", problem_of(exc).local, f"exhibit ingest PATH --home {configured.home}")
        return
    state: Literal["ok", "warning"] = "ok" if found["documents"] else "warning"
    yield Finding(
        "corpus", state, counted(found["documents"], "document"), None if found["documents"] else "exhibit ingest PATH"
    )
    embedded = _embedded(configured)
    for channel in found["channels"]:
        if channel["fault"]:
            follow = REBUILD if REBUILD in channel["fault"] else None
            yield Finding(f"index {channel['channel']}", "failed", channel["fault"], follow)
            continue
        wrong = channel["missing"] or channel["stale"]
        place = "in the home" if channel["channel"] in embedded else "on its server"
        held = counted(channel["documents"], "document")
        detail = f"{held} {place}, {channel['missing']} missing, {channel['stale']} stale"
        yield Finding(
            f"index {channel['channel']}",
            "failed" if wrong else "ok",
            detail,
            "exhibit doctor --repair" if wrong else None,
        )


async def _contents(configured: Configuration) -> AsyncIterator[Finding]:
    """Everything that is kept of the documents, against the sums that ingest wrote."""
    from api.cli.corpus.index import damaged
    from api.errors import EdgeError
    from retrieval.errors import ChannelError, IndexNotReady, StoreDamaged, StoreNotResponding, StoreUnavailable

    try:
        found = await damaged(configured)
    except (ChannelError, IndexNotReady, StoreNotResponding, EdgeError):  # has a finding of its own
        return
    except StoreDamaged:
        raise
    except StoreUnavailable as exc:
        yield Finding("contents", "warning", problem_of(exc).local, "exhibit ingest PATH")
        return
    for each in found[:MOST_NAMED]:
        follow = REBUILD if each.derived else "exhibit source erase SOURCE --basis DAMAGE; exhibit ingest PATH"
        yield Finding("contents", "failed", f"not what was stored: {each}", follow, damaged=True)
    if len(found) > MOST_NAMED:
        yield Finding("contents", "failed", f"{len(found)} in all", "exhibit index verify", damaged=True)
    if not found:
        yield Finding("contents", "ok", "everything that is kept is what was stored")


def _embedded(configured: Configuration) -> set[str]:
    """The channels whose index is a file or folder of the home, whatever their names say."""
    from api.home.backends import backends_of
    from api.home.stores import Embedded

    parts = backends_of(configured)
    stores = {"neo4j": parts.graph, "postgis": parts.spatial, "fulltext": parts.fulltext, "vector": parts.vector}
    return {name for name, store in stores.items() if isinstance(store, Embedded)}


async def _policy(configured: Configuration) -> AsyncIterator[Finding]:
    from api.home.backends import backends_of
    from api.wiring import open_bundle, pass_canary

    bundle = open_bundle(backends_of(configured).policy)
    await pass_canary(bundle)
    yield Finding("policy", "ok", bundle.digest)


async def _ledger(configured: Configuration) -> AsyncIterator[Finding]:
    from api.cli.diagnosis import ASK_THE_LOG
    from api.home.backends import backends_of
    from api.wiring import active_digest, open_ledger
    from api.wiring.publications import require_published
    from ledger.errors import LedgerNotResponding
    from policy.errors import PolicyError

    backend = backends_of(configured).ledger
    if not backend.exists:
        yield Finding("ledger", "ok", "nothing recorded yet", 'exhibit ask "QUESTION"')
        return
    try:
        async with open_ledger(configured) as ledger:
            size = int((await ledger.checkpoint()).splitlines()[1])
            if size > MOST_VERIFIED_ENTRIES:
                yield Finding("ledger", "warning", f"{size} entries, not verified here", "exhibit ledger verify")
                return
            report = await ledger.verify()
            clock = await _clock(ledger) if report.ok else None
            try:
                await require_published(configured, ledger, active_digest(backends_of(configured).policy))
            except PolicyError as exc:
                yield Finding("policy", "failed", problem_of(exc).local, "exhibit policy rollback DIGEST")
    except LedgerNotResponding as exc:
        yield Finding("ledger", "failed", problem_of(exc).local, ASK_THE_LOG)
        return
    if clock is not None:
        yield clock
    if not report.ok:
        yield Finding("ledger", "failed", str(report.problems[0]), "exhibit ledger verify", damaged=True)
    elif report.dangling:
        yield Finding(
            "ledger", "warning", f"{len(report.dangling)} requests ended without an outcome", "exhibit ledger verify"
        )
    else:
        yield Finding("ledger", "ok", f"{report.entries} entries, {report.parts} parts verified")


async def _clock(ledger: Ledger) -> Finding | None:
    """Says that entries are dated in the future: the clock was set back since, or was ahead when they were recorded."""
    from api.cli.ledger.common import utc

    latest_ms = ledger.now_ms() + APART_MS
    ahead = [entry.leaf.t_ms async for entry in ledger.every() if entry.leaf.t_ms > latest_ms]
    if not ahead:
        return None
    told = "1 entry is" if len(ahead) == 1 else f"{len(ahead)} entries are"
    return Finding(
        "clock", "warning", f"{told} dated in the future, up to {utc(max(ahead))}: compare this clock", "date -u"
    )


async def _erasures(configured: Configuration) -> AsyncIterator[Finding]:
    """Looks again in every file for what was erased."""
    from api.audit.erasure.scan import search_again
    from api.home.backends import backends_of

    if not backends_of(configured).ledger.exists:
        return
    scan = await search_again(configured)
    if scan is None:
        return
    if scan.clean:
        yield Finding(
            "erasures", "ok", f"no trace of what was erased ({scan.prints} fingerprints) in {scan.files} files"
        )
    else:
        wrong = [where for where, _ in scan.hits] or scan.unread
        said = "holds something of what was erased" if scan.hits else "could not be searched for what was erased"
        yield Finding("erasures", "failed", f"{wrong[0]} {said}", "exhibit ledger verify")


async def _keys(configured: Configuration) -> AsyncIterator[Finding]:
    from api.home.backends import backends_of
    from api.home.identity.principal import is_loopback
    from api.wiring import key_store

    folder = backends_of(configured).ledger.keys
    if folder.exists() and stat.S_IMODE(folder.stat().st_mode) & 0o077:
        yield Finding("keys", "failed", f"{folder} can be read by others", f"chmod 700 {folder}")
    usable = len(key_store(configured).usable())
    exposed = not is_loopback(configured.settings.server.host)
    if exposed and not usable:
        yield Finding(
            "API keys",
            "failed",
            "the server would listen beyond loopback without a key",
            "exhibit key create --name NAME --role ROLE",
        )
    else:
        yield Finding("API keys", "ok", f"{usable} usable")


def _to_have_the_model(configured: Configuration) -> str:
    models = configured.settings.models
    return f"ollama pull {models.chat}" if models.openai_url is None else "name a model of that server: models.chat"


def _to_reach_it(configured: Configuration) -> str:
    named = "OLLAMA_API_URL" if configured.settings.models.openai_url is None else "models.openai_url"
    return f"check {named}, or unset FOCUS_MODE_MODEL"


async def _model(configured: Configuration) -> AsyncIterator[Finding]:
    from contextlib import AsyncExitStack

    from ai.errors import AIError, ModelMissing
    from api.home.backends import backends_of
    from api.wiring import open_chat

    async with AsyncExitStack() as stack:
        try:
            identity = await open_chat(backends_of(configured).chat, stack).identity()
        except ModelMissing as exc:
            yield Finding("model", "failed", problem_of(exc).local, _to_have_the_model(configured))
            return
        except AIError as exc:
            yield Finding("model", "failed", problem_of(exc).local, _to_reach_it(configured))
            return
    yield Finding("model", "ok", f"{identity.name} {identity.digest}")


async def _embedder(configured: Configuration) -> AsyncIterator[Finding]:
    from api.home.backends import backends_of
    from api.wiring import open_embedder
    from retrieval.errors import ChannelError

    embedder = await open_embedder(backends_of(configured).embedding)
    try:
        model = await embedder.identity()
    except ChannelError as exc:
        help_ = "check OLLAMA_API_URL and FOCUS_MODE_EMBED_MODEL; the server's models: ollama list"
        yield Finding("embedder", "failed", problem_of(exc).local, help_)
    else:
        yield Finding("embedder", "ok", f"{model.name}, {model.dimension} dimensions")
    finally:
        await embedder.aclose()


_ASKING = {"model", "embedder"}  # which are one question to a server, at most
# What shows more of another fault.
_OTHERWISE = {"contents": "exhibit index verify", "ledger": "exhibit ledger verify", "repair": "exhibit doctor"}
_LOOKS: dict[str, Callable[[Configuration], AsyncIterator[Finding]]] = {
    "home": _home,
    "servers": _servers,
    "corpus": _corpus,
    "contents": _contents,
    "policy": _policy,
    "ledger": _ledger,
    "erasures": _erasures,
    "keys": _keys,
    "model": _model,
    "embedder": _embedder,
}


def _line(finding: Finding) -> str:
    mark, colour = _MARKS[finding.state]
    follow = f"  ->  {finding.next}" if finding.next else ""
    return f"{styled(mark, colour)}  {finding.name:16} {finding.detail}{follow}"
