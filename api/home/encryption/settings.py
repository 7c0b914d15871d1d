"""The settings of an encrypted home: where its key is."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, model_validator

from api.home.stores import Section

VAULT_FILE = "encryption.json"
BESIDE = ("-wal", "-shm", "-journal")
"""How the names of the files end that SQLite keeps beside a database."""


class Encryption(Section):
    """Where the key of an encrypted home is. It opens `encryption.json` of the home, and nothing holds it."""

    key: SecretStr | None = Field(default=None, description="key of the home, 64 hexadecimal digits; environment only")
    key_file: str | None = Field(
        default=None, min_length=1, description="file that holds the key, outside the home, readable by its owner alone"
    )
    key_command: str | None = Field(
        default=None, min_length=1, description="command that prints the key, such as one of a key service; no shell"
    )

    @model_validator(mode="after")
    def _one_key(self) -> Self:
        if sum(each is not None for each in (self.key, self.key_file, self.key_command)) > 1:
            raise ValueError("encryption.key, key_file and key_command name two keys; set one")
        return self


def is_database(path: Path) -> bool:
    """True for a SQLite file of a home, by its name: an encrypted one has no header."""
    return ".sqlite" in path.name and not path.name.endswith(BESIDE)
