-- The log's tables and functions in PostgreSQL; the braces hold the quoted name of their schema. See postgres_schema.py.

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
    CONSTRAINT leaf_hash CHECK (hash = sha256('\x00'::bytea || leaf))
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

-- One call while the head is locked says all that an append needs. The caller passes the size that it knows the
-- frontier of; for another one the frontier comes along, left to right.
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
    frontier := '{}';
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
