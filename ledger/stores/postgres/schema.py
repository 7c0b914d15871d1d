"""The log's tables in PostgreSQL, and who may do what to them.

    exhibit_ledger_owner      owns everything, cannot log in, has no members
    exhibit_ledger_writer     SELECT and INSERT; moves the head only by inserting leaves
    exhibit_ledger_redactor   moreover DELETE on salts, keys and contents, in a redaction leaf's transaction

Every trigger is ENABLE ALWAYS, so that `session_replication_role` does not switch it off. Who can drop a trigger, a
superuser, can change a row; `verify` then tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

OWNER = "exhibit_ledger_owner"
WRITER = "exhibit_ledger_writer"
REDACTOR = "exhibit_ledger_redactor"
SCHEMA = "exhibit_ledger"
SCHEMA_VERSION = 1
# What takes version n to n + 1; `install` runs them as whoever prepares the server.
STEPS: Mapping[int, Sequence[str]] = {}

_MADE = Path(__file__).with_suffix(".sql")
# table, trigger, when, function
_TRIGGERS = (
    *(
        (table, f"{table}_no_{verb.lower()}", f"BEFORE {verb} ON {table} FOR EACH {scope}", "refuse")
        for table in ("log", "leaves", "nodes", "checkpoints", "cosignatures")
        for verb, scope in (("UPDATE", "ROW"), ("DELETE", "ROW"), ("TRUNCATE", "STATEMENT"))
    ),
    ("leaves", "leaves_advance", "AFTER INSERT ON leaves REFERENCING NEW TABLE AS added FOR EACH STATEMENT",
     "advance_head"),
    ("head", "head_follows", "BEFORE INSERT OR UPDATE ON head FOR EACH ROW", "follow_leaves"),
    ("head", "head_no_delete", "BEFORE DELETE ON head FOR EACH ROW", "refuse"),
    ("head", "head_no_truncate", "BEFORE TRUNCATE ON head FOR EACH STATEMENT", "refuse"),
    *(
        (table, f"{table}_no_{verb.lower()}", f"BEFORE {verb} ON {table} FOR EACH {scope}", "refuse")
        for table in ("secrets", "blobs")
        for verb, scope in (("UPDATE", "ROW"), ("TRUNCATE", "STATEMENT"))
    ),
    *(
        (table, f"{table}_redacted", f"BEFORE DELETE ON {table} FOR EACH STATEMENT", "only_with_redaction")
        for table in ("secrets", "blobs")
    ),
)  # fmt: skip
TRIGGERS = frozenset((table, name) for table, name, _, _ in _TRIGGERS)
_GRANTS = f"""
GRANT USAGE ON SCHEMA {{schema}} TO {WRITER}, {REDACTOR};
GRANT SELECT, INSERT ON log, leaves, nodes, checkpoints, cosignatures, secrets, blobs TO {WRITER}, {REDACTOR};
GRANT SELECT ON head TO {WRITER}, {REDACTOR};
GRANT EXECUTE ON FUNCTION lock_head TO {WRITER}, {REDACTOR};
GRANT DELETE ON secrets, blobs TO {REDACTOR};
DO $$ BEGIN
  IF current_setting('server_version_num')::int >= 170000 THEN
    EXECUTE 'GRANT MAINTAIN ON secrets, blobs TO {REDACTOR}';
  END IF;
END $$;
"""
AS_ONESELF = ("RESET ROLE", f"REVOKE {OWNER} FROM CURRENT_USER")
_ROLES = "".join(
    f"DO $$ BEGIN CREATE ROLE {role} NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;\n"
    for role in (OWNER, WRITER, REDACTOR)
)


def installation(schema: str, *, writers: Sequence[str], redactors: Sequence[str]) -> str:
    """One script, to be run in one transaction by a role that may create roles and schemas: makes what is not there,
    and lets the named login roles write, or redact. Names are quoted identifiers."""
    return "".join(
        [
            _ROLES,
            f"GRANT {OWNER} TO CURRENT_USER;\nCREATE SCHEMA {schema} AUTHORIZATION {OWNER};\n",
            *(f"{statement};\n" for statement in as_owner(schema)),
            _MADE.read_text("utf-8").replace("{schema}", schema),
            *(
                f"CREATE TRIGGER {name} {when} EXECUTE FUNCTION {function}();\n"
                f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name};\n"
                for table, name, when, function in _TRIGGERS
            ),
            _GRANTS.format(schema=schema),
            *(f"{statement};\n" for statement in AS_ONESELF),
            memberships(writers=writers, redactors=redactors),
        ]
    )


def as_owner(schema: str) -> tuple[str, ...]:
    """Statements that give the transaction the owner's rights and the schema's names."""
    grant, role = f"GRANT {OWNER} TO CURRENT_USER", f"SET LOCAL ROLE {OWNER}"
    return grant, role, f"SET LOCAL search_path = {schema}, pg_temp"


def memberships(*, writers: Sequence[str], redactors: Sequence[str]) -> str:
    """Lets the login roles become the writer, or writer and redactor."""
    grants = [f"GRANT {WRITER} TO {role};\n" for role in (*writers, *redactors)]
    return "".join([*grants, *(f"GRANT {REDACTOR} TO {role};\n" for role in redactors)])
