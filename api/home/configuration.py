"""Settings with the origin of every value: defaults, then `exhibit.toml` in the home, then the environment, then the
command line.

Written on pydantic alone: the settings package on top of it takes longer to import than a whole question takes to
answer, and does not say where a value came from.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr, ValidationError

from api.errors import HomeUnusable, SettingsInvalid
from api.home.encryption.settings import VAULT_FILE
from api.home.settings import ENVIRONMENT_NAMES, Settings
from retrieval.files.seal import PLAIN, Seal

Versions = Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]]
PREFIX = "EXHIBIT_"
CONFIG_FILE = "exhibit.toml"
DEFAULT_HOME = Path("exhibit-home")
# Read by commands themselves: where the home is, where tools and caches are.
PROCESS_NAMES = frozenset({"EXHIBIT_HOME", "EXHIBIT_CACHE", "EXHIBIT_OPA_BIN"})
# Addresses of servers that the tests of this repository may use.
TEST_PREFIX = "EXHIBIT_TEST_"
# The versions of the file, and what makes a tree of one into today's; a file that names none is of the first.
VERSIONS: Versions = {1: lambda tree: tree}
MASK = "********"
_USERINFO = re.compile(r"(?<=://)\S*@")  # to the last sign: a password may hold what it should have encoded

# The path of a value in the tree, the value, its origin.
_Found = tuple[tuple[str, ...], object, str]


@dataclass(frozen=True, slots=True)
class Setting:
    """One value as it is shown: dotted name, value (secrets masked), origin."""

    name: str
    value: object
    origin: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """The home folder, the settings, where each value that is not a default came from (dotted name to origin), and how
    the home's files are kept. Whoever has one of an encrypted home has its keys."""

    home: Path
    settings: Settings
    origins: Mapping[str, str]
    seal: Seal = PLAIN

    def shown(self) -> tuple[Setting, ...]:
        """Every setting with its origin; a secret's value is never in it."""
        home = Setting("home", str(self.home), self.origins.get("home", "default"))
        return (home, *(Setting(n, v, self._origin(n)) for n, v in _leaves(self.settings)))

    def _origin(self, name: str) -> str:
        """The origin of a field, or of the table that it stands in."""
        parts = name.split(".")
        prefixes = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
        return next((self.origins[p] for p in prefixes if p in self.origins), "default")


def load(
    environment: Mapping[str, str],
    *,
    home: Path | None = None,
    overrides: Mapping[str, object] | None = None,
    versions: Versions = VERSIONS,
) -> Configuration:
    """Read everything once. `home` and `overrides` (dotted names) are what the command line said; None is "not said".

    Raises SettingsInvalid for an unknown key, an impossible value, or a file that cannot be read; the message names
    the origin and never repeats a value; HomeUnusable for a home that is no folder. An encrypted home is opened: raises
    HomeKeyMissing, HomeKeyWrong.
    """
    folder, home_origin = _home(environment, home)
    origins: dict[str, str] = {"home": home_origin}
    tree: dict[str, Any] = {}
    layers = (
        _from_file(folder / CONFIG_FILE, versions),
        _from_environment(environment),
        _from_options(overrides or {}),
    )
    for path, value, origin in (item for layer in layers for item in layer):
        _put(tree, path, value, origin)
        origins[".".join(path)] = origin
    try:
        settings = Settings.model_validate(tree)
    except ValidationError as exc:
        raise SettingsInvalid("; ".join(_complaints(exc, origins))) from None
    return Configuration(folder, settings, origins, _seal_of(folder, settings, origins))


def _seal_of(home: Path, settings: Settings, origins: Mapping[str, str]) -> Seal:
    """How the files of the home are kept. An encrypted one is opened with the key that the settings name."""
    if not (home / VAULT_FILE).exists():
        closed = sys.modules.get("api.home.encryption.vault")  # which most processes never need
        if closed is not None:
            closed.forget_vault(home)
        return PLAIN
    from api.home.encryption.home_key import home_key  # noqa: PLC0415
    from api.home.encryption.vault import open_vault  # noqa: PLC0415

    told = [name for name in _secrets(settings) if origins.get(name, "").startswith("file ")]
    if told:
        raise SettingsInvalid(f"{', '.join(told)}: a secret in {CONFIG_FILE} of an encrypted home; use the environment")
    return open_vault(home, home_key(settings.encryption, home))


def _secrets(section: BaseModel, prefix: str = "") -> Iterator[str]:
    """The names of the settings that hold a secret, or an address with one in it."""
    for field in type(section).model_fields:
        value = getattr(section, field)
        if isinstance(value, BaseModel):
            yield from _secrets(value, f"{prefix}{field}.")
        elif isinstance(value, SecretStr) or (isinstance(value, str) and _USERINFO.search(value)):
            yield f"{prefix}{field}"


def _home(environment: Mapping[str, str], home: Path | None) -> tuple[Path, str]:
    if home is not None:
        return home.expanduser(), "option --home"
    named = environment.get("EXHIBIT_HOME")
    if named:
        return Path(named).expanduser(), "environment EXHIBIT_HOME"
    return DEFAULT_HOME, "default"


def _from_file(path: Path, versions: Versions) -> Iterator[_Found]:
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise HomeUnusable(f"the home {path.parent} is not a folder") from None
    except (OSError, UnicodeDecodeError) as exc:
        raise SettingsInvalid(f"{path} cannot be read: {getattr(exc, 'strerror', None) or 'not UTF-8'}") from None
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise SettingsInvalid(f"{path} is not valid TOML: {exc}") from None
    version = tree.pop("version", 1)
    if type(version) is not int or version not in versions:
        raise SettingsInvalid(f"{path} is not of a version that this program reads: {', '.join(map(str, versions))}")
    for names, value in _flatten(versions[version](tree)):
        yield names, value, f"file {path}"


def _from_environment(environment: Mapping[str, str]) -> Iterator[_Found]:
    for variable in sorted(environment):
        if variable in ENVIRONMENT_NAMES:
            if environment[variable]:
                yield tuple(ENVIRONMENT_NAMES[variable].split(".")), environment[variable], f"environment {variable}"
        elif variable.startswith(PREFIX) and not variable.startswith(TEST_PREFIX) and variable not in PROCESS_NAMES:
            yield (
                tuple(variable.removeprefix(PREFIX).lower().split("__")),
                environment[variable],
                f"environment {variable}",
            )


def _from_options(overrides: Mapping[str, object]) -> Iterator[_Found]:
    for name, value in overrides.items():
        if value is not None:
            path = tuple(name.split("."))
            yield path, value, f"option --{path[-1].replace('_', '-')}"


def _flatten(tree: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from _flatten(value, (*above, key))
        else:
            yield (*above, key), value


def _put(tree: dict[str, Any], path: tuple[str, ...], value: object, origin: str) -> None:
    *parents, leaf = path
    node = tree
    for parent in parents:
        below = node.setdefault(parent, {})
        if not isinstance(below, dict):
            raise SettingsInvalid(f"{'.'.join(path)} ({origin}): {parent} is a value, not a section")
        node = below
    node[leaf] = value


def _complaints(exc: ValidationError, origins: Mapping[str, str]) -> Iterator[str]:
    for error in exc.errors(include_input=False, include_url=False, include_context=False):
        name = ".".join(str(part) for part in error["loc"])
        said = next(
            (origin for known, origin in origins.items() if known == name or known.startswith(name + ".")), "default"
        )
        yield f"{name} ({said}): {'unknown setting' if error['type'] == 'extra_forbidden' else error['msg']}"


def _leaves(section: BaseModel, prefix: str = "") -> Iterator[tuple[str, object]]:
    for field in type(section).model_fields:
        value = getattr(section, field)
        if isinstance(value, BaseModel):
            yield from _leaves(value, f"{prefix}{field}.")
        else:
            yield f"{prefix}{field}", _masked(value)


def _masked(value: object) -> object:
    """The value without a secret, and an address without its user and password."""
    if isinstance(value, SecretStr):
        return MASK
    return _USERINFO.sub(f"{MASK}@", value) if isinstance(value, str) else value
