"""The log's tables in PostgreSQL, and who may do what to them.

    exhibit_ledger_owner      owns everything, cannot log in, has no members
    exhibit_ledger_writer     SELECT and INSERT; moves the head only by inserting leaves
    exhibit_ledger_redactor   moreover DELETE on salts, keys and contents, in a redaction leaf's transaction

Every trigger is ENABLE ALWAYS, so that `session_replication_role` does not switch it off. Who can drop a trigger, a
superuser, can change a row; `verify` then tells.
"""

from __future__ import annotations

from collections.abc import Sequence

OWNER = "exhibit_ledger_owner"
WRITER = "exhibit_ledger_writer"
REDACTOR = "exhibit_ledger_redactor"
SCHEMA = "exhibit_ledger"
SCHEMA_VERSION = 1

_TABLES = """
CREATE TABLE log (
    id int PRIMARY KEY CHECK (id = 1), version int NOT NULL, origin text NOT NULL, vkey text NOT NULL,
    pseudonym_check text NOT NULL
);
CREATE TABLE head (id int PRIMARY KEY CHECK (id = 1), size bigint NOT NULL CHECK (size >= 0));
INSERT INTO head VALUES (1, 0);
CREATE TABLE leaves (
    idx bigint PRIMARY KEY CHECK (idx >= 0), id uuid NOT NULL UNIQUE, kind text NOT NULL, tenant text NOT NULL,
    req text NOT NULL, replica text NOT NULL, rseq bigint NOT NULL CHECK (rseq > 0), hash bytea NOT NULL,
    leaf bytea NOT NULL CHECK (length(leaf) <= 4096), UNIQUE (req, kind), UNIQUE (replica, rseq),
    CONSTRAINT leaf_hash CHECK (hash = sha256('\\x00'::bytea || leaf))
);
CREATE INDEX leaves_by_tenant ON leaves (tenant, idx);
CREATE INDEX leaves_by_kind ON leaves (kind, idx);
CREATE INDEX intents ON leaves (idx) INCLUDE (req, replica) WHERE kind = 'intent';
CREATE TABLE nodes (
    level int NOT NULL, n bigint NOT NULL, hash bytea NOT NULL CHECK (length(hash) = 32), PRIMARY KEY (level, n)
);
CREATE TABLE checkpoints (
    size bigint PRIMARY KEY, root bytea NOT NULL CHECK (length(root) = 32), note text NOT NULL
);
CREATE TABLE cosignatures (
    size bigint PRIMARY KEY REFERENCES checkpoints (size), lines text[] NOT NULL CHECK (cardinality(lines) > 0)
);
CREATE TABLE secrets (
    entry uuid NOT NULL, name text NOT NULL, salt bytea NOT NULL, key bytea NOT NULL, PRIMARY KEY (entry, name)
);
CREATE TABLE blobs (entry uuid NOT NULL, name text NOT NULL, blob bytea NOT NULL, PRIMARY KEY (entry, name));
ALTER TABLE blobs ALTER COLUMN blob SET STORAGE EXTERNAL;
"""
# One call while the head is locked says all that an append needs. The caller passes the size that it knows the
# frontier of; for another one the frontier comes along, left to right.
_FUNCTIONS = """
CREATE FUNCTION lock_head(known bigint, of_replica text, reqs text[], kinds text[],
    OUT size bigint, OUT frontier bytea[], OUT next_rseq bigint, OUT taken_at bigint, OUT taken_idx bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = {schema}, pg_temp AS $$
DECLARE found bytea;
BEGIN
  SELECT h.size INTO STRICT size FROM head h WHERE h.id = 1 FOR UPDATE;
  SELECT coalesce(max(l.rseq) + 1, 1) INTO next_rseq FROM leaves l WHERE l.replica = of_replica;
  SELECT r.at - 1, l.idx INTO taken_at, taken_idx FROM unnest(reqs, kinds) WITH ORDINALITY r (req, kind, at)
    JOIN leaves l ON l.req = r.req AND l.kind = r.kind ORDER BY r.at LIMIT 1;
  IF size <> known THEN
    frontier := '{{}}';
    FOR at_level IN REVERSE 62..0 LOOP
      IF (size >> at_level) & 1 = 1 THEN
        SELECT hash INTO STRICT found FROM nodes WHERE level = at_level AND n = (size >> at_level) - 1;
        frontier := frontier || found;
      END IF;
    END LOOP;
  END IF;
END $$;
CREATE FUNCTION advance_head() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = {schema}, pg_temp AS $$
DECLARE first bigint; last bigint; added_count bigint; at bigint;
BEGIN
  SELECT min(idx), max(idx), count(*) INTO first, last, added_count FROM added;
  IF added_count > 0 THEN
    SELECT size INTO STRICT at FROM head WHERE id = 1 FOR UPDATE;
    IF first <> at OR last <> at + added_count - 1 THEN
      RAISE EXCEPTION 'leaves % to % do not follow leaf %', first, last, at - 1;
    END IF;
    UPDATE head SET size = at + added_count WHERE id = 1;
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION follow_leaves() RETURNS trigger
LANGUAGE plpgsql SET search_path = {schema}, pg_temp AS $$
BEGIN
  IF NEW.id <> 1 OR NEW.size <> (SELECT max(idx) + 1 FROM leaves) THEN
    RAISE EXCEPTION 'the head moves only by append';
  END IF;
  RETURN NEW;
END $$;
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is insert-only', TG_TABLE_NAME;
END $$;
CREATE FUNCTION only_with_redaction() RETURNS trigger
LANGUAGE plpgsql SET search_path = {schema}, pg_temp AS $$
BEGIN
  IF NOT EXISTS (
    SELECT 1 FROM leaves WHERE idx >= (SELECT size FROM head) - 64 AND kind = 'redaction'
      AND xmin::text = ((pg_current_xact_id()::text::numeric) % 4294967296)::text
  ) THEN
    RAISE EXCEPTION '% loses rows in the transaction of a redaction only', TG_TABLE_NAME;
  END IF;
  RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION lock_head, advance_head, follow_leaves, refuse, only_with_redaction FROM PUBLIC;
"""
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
            f"SET LOCAL ROLE {OWNER};\nSET LOCAL search_path = {schema}, pg_temp;\n",
            _TABLES,
            _FUNCTIONS.format(schema=schema),
            *(
                f"CREATE TRIGGER {name} {when} EXECUTE FUNCTION {function}();\n"
                f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name};\n"
                for table, name, when, function in _TRIGGERS
            ),
            _GRANTS.format(schema=schema),
            f"RESET ROLE;\nREVOKE {OWNER} FROM CURRENT_USER;\n",
            memberships(writers=writers, redactors=redactors),
        ]
    )


def memberships(*, writers: Sequence[str], redactors: Sequence[str]) -> str:
    """Lets the login roles become the writer, or writer and redactor."""
    grants = [f"GRANT {WRITER} TO {role};\n" for role in (*writers, *redactors)]
    return "".join([*grants, *(f"GRANT {REDACTOR} TO {role};\n" for role in redactors)])
