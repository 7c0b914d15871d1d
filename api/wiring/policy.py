"""The bundle that decides, and the engine that serves it: chosen by the settings and by what was published."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from api.errors import SettingsInvalid
from api.home.backends import PolicyBackend
from api.wiring.circuits import Circuits
from api.wiring.clock import clock_ms
from policy.bundles.archive import folder_digest
from policy.bundles.bundle import SHIPPED, Bundle, load_bundle
from policy.bundles.releases import Releases
from policy.data import PolicyData
from policy.engine import PolicyEngine
from policy.errors import BundleNotFound, BundleRejected, SigningKeyInvalid
from policy.fallback import FallbackEngine
from policy.points import PolicyPoints
from policy.shadow import ShadowEngine
from policy.shadow_log import SqliteShadowLog

if TYPE_CHECKING:
    from policy.bundles.signatures import Key
    from policy.opa.http import OpaHttp
    from retrieval.ingest.label import AccessTerms

SHADOW_FILE = "shadow.sqlite"


@dataclass(frozen=True, slots=True)
class OpenPolicy:
    """One bundle, ready to decide; `shadow` is the digest of the bundle that is to decide beside it, without effect,
    and `shadow_fault` why it cannot."""

    bundle: Bundle
    engine: PolicyEngine
    shadow: str | None
    shadow_fault: str | None = None

    def points(self, deadline_s: float) -> Callable[[int], PolicyPoints]:
        """Policy points that see one time, whatever the clock does meanwhile."""
        engine, data = self.engine, self.data
        return lambda now_ms: PolicyPoints(engine=engine, clock_ms=lambda: now_ms, deadline_s=deadline_s, data=data)

    @property
    def data(self) -> PolicyData:
        """Roles, labels and thresholds of the bundle."""
        return self.bundle.data

    @property
    def alone(self) -> PolicyEngine:
        """The engine without the shadow, for what is no request."""
        return self.engine.active if isinstance(self.engine, ShadowEngine) else self.engine

    async def aclose(self) -> None:
        """Release the engines."""
        await self.engine.aclose()


def releases_of(backend: PolicyBackend) -> Releases:
    """The bundles published to the home."""
    return Releases(backend.releases)


def open_bundle(backend: PolicyBackend) -> Bundle:
    """The bundle in force: the folder that the settings name, else what was published to the home, else the shipped
    one. Raises BundleRejected, BundleNotFound, SettingsInvalid."""
    if backend.folder is not None:
        require_signature(backend, backend.folder)
        return load_bundle(backend.folder)
    releases = releases_of(backend)
    active = releases.state().active
    return load_bundle(SHIPPED) if active is None else open_archived(backend, active)


def open_archived(backend: PolicyBackend, digest: str) -> Bundle:
    """The archived bundle of that digest, signed where that is asked for. Raises BundleRejected, BundleNotFound,
    SettingsInvalid."""
    archive = releases_of(backend).archive
    require_signature(backend, archive.path(digest))
    return archive.load(digest)


def require_signature(backend: PolicyBackend, folder: Path) -> None:
    """Raise BundleUnsigned unless one of the pinned keys signed the bundle below `folder`. With no key pinned none
    needs to be signed; the shipped one never does, it came with the program. Raises SettingsInvalid where the keys
    cannot be read."""
    if backend.keys is None or folder_digest(folder) == folder_digest(SHIPPED):
        return
    from policy.bundles.signatures import require_signed  # noqa: PLC0415 - keys are pinned in few homes

    require_signed(folder, _pinned(backend.keys))


def _pinned(path: Path) -> tuple[Key, ...]:
    from policy.bundles.signatures import verification_keys  # noqa: PLC0415

    try:
        return verification_keys(path.read_text("ascii"))
    except (OSError, ValueError, SigningKeyInvalid) as exc:
        raise SettingsInvalid(f"policy.verification_keys: {path}: {exc}") from exc


def active_digest(backend: PolicyBackend) -> str:
    """The digest of the bundle that the home names, which need not be whole. Raises BundleRejected."""
    return releases_of(backend).state().active or load_bundle(SHIPPED).digest


def bundle_folder(backend: PolicyBackend) -> Path:
    """Where the bundle in force lies. Raises BundleRejected, BundleNotFound."""
    if backend.folder is not None:
        return backend.folder
    releases = releases_of(backend)
    active = releases.state().active
    return SHIPPED if active is None else releases.archive.path(active)


def access_terms(backend: PolicyBackend, defaults: Mapping[str, str]) -> AccessTerms:
    """The labels and handling tags of the bundle in force, for ingest; `defaults` are the labels that the settings give
    to collections. Raises BundleRejected, BundleNotFound, and SettingsInvalid for a default that is not a label."""
    from retrieval.ingest.label import AccessTerms  # noqa: PLC0415 - only who takes documents in needs it

    data = open_bundle(backend).data
    for collection, label in defaults.items():
        if label not in data.labels:
            known = f"{label!r} is not a label of the policy ({', '.join(data.ascending)})"
            raise SettingsInvalid(f"ingest.default_labels.{collection}: {known}")
    return AccessTerms(data.ascending, tuple(data.handling), defaults, suspicion(data))


def suspicion(data: PolicyData) -> Callable[[str], bool]:
    """The texts that the evidence point would refuse for what they try to make a model do."""
    from ai.gate import reads_like_instruction  # noqa: PLC0415 - a question loads it anyway, a command need not

    return partial(reads_like_instruction, threshold_milli=data.injection_milli)


def _archived(backend: PolicyBackend) -> Bundle:
    """The bundle in force, filed by its digest."""
    bundle = open_bundle(backend)
    archive = releases_of(backend).archive
    if bundle.digest not in archive:
        archive.put(bundle_folder(backend))
    return bundle


async def open_policy(backend: PolicyBackend, circuits: Circuits | None = None) -> OpenPolicy:
    """The bundle in force, its engine, and the candidate in its shadow. The bundle is archived, so that its decisions
    can be made again. What was published has passed every gate; a folder that the settings name has passed none, so the
    canary is asked. A candidate that cannot be opened is left out: what has no effect must not stop what has. Raises
    BundleRejected, BundleNotFound."""
    bundle = await asyncio.to_thread(_archived, backend)
    if backend.folder is not None:
        await pass_canary(bundle)
    releases = releases_of(backend)
    shadow = releases.state().shadow
    engine = await open_engine(backend, bundle, circuits)
    if shadow is None or shadow == bundle.digest:
        return OpenPolicy(bundle, engine, None)
    try:
        candidate = await open_embedded(await asyncio.to_thread(open_archived, backend, shadow))
    except (BundleRejected, BundleNotFound) as exc:
        return OpenPolicy(bundle, engine, shadow, str(exc))
    except BaseException:
        await engine.aclose()
        raise
    return OpenPolicy(bundle, ShadowEngine(active=engine, candidate=candidate, log=shadow_log(backend)), shadow)


async def open_engine(backend: PolicyBackend, bundle: Bundle, circuits: Circuits | None = None) -> PolicyEngine:
    """The engine that serves the bundle; a server stands behind a breaker of `circuits`."""
    chosen = backend.server
    if chosen is None:
        return await open_embedded(bundle)
    from policy.opa.server import OpaServerEngine  # noqa: PLC0415

    server = OpaServerEngine.open(
        chosen.url,
        bundle_digest=bundle.digest,
        token=chosen.token,
        ca_file=chosen.ca_file,
        guard=(circuits or Circuits()).of_policy(),
    )
    return FallbackEngine(first=server, second=await open_embedded(bundle)) if chosen.fallback else server


async def pass_canary(bundle: Bundle) -> None:
    """Raise BundleRejected unless the bundle's module does what every bundle must, whatever its rules say."""
    from policy.authoring.lattice.deciding import by_engine  # noqa: PLC0415
    from policy.authoring.lattice.domain import Domain  # noqa: PLC0415
    from policy.authoring.testing.canary import canary  # noqa: PLC0415

    engine = await open_embedded(bundle)
    try:
        found = await canary(by_engine(engine), Domain.of(bundle))
    finally:
        await engine.aclose()
    if found:
        raise BundleRejected(f"the canary refuses {bundle.digest}: {found[0]}")


async def open_embedded(bundle: Bundle) -> PolicyEngine:
    """The bundle's module, in process."""
    from policy.wasm import WasmEngine  # noqa: PLC0415

    return await asyncio.to_thread(WasmEngine.open, bundle)


def open_server(url: str, bundle: Bundle, *, token: str | None = None) -> PolicyEngine:
    """An OPA server at that address, which must serve the bundle."""
    from policy.opa.server import OpaServerEngine  # noqa: PLC0415

    return OpaServerEngine.open(url, bundle_digest=bundle.digest, token=token, guard=Circuits().of_policy())


def open_server_over(http: OpaHttp, bundle: Bundle) -> PolicyEngine:
    """As `open_server`, over connections that the caller has made and may watch; closing the engine closes them."""
    from policy.opa.server import OpaServerEngine  # noqa: PLC0415

    return OpaServerEngine(http=http, bundle_digest=bundle.digest, guard=Circuits().of_policy())


def shadow_log(backend: PolicyBackend) -> SqliteShadowLog:
    """The findings of the comparison with shadow bundles in this home."""
    return SqliteShadowLog(backend.releases / SHADOW_FILE, clock_ms=clock_ms)
