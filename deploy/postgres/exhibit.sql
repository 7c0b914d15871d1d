\set ON_ERROR_STOP on
-- The role that Exhibit is: an ordinary one, so that row-level security binds it. A superuser is above it.
\getenv password EXHIBIT_PASSWORD
CREATE ROLE exhibit LOGIN PASSWORD :'password';
GRANT CREATE ON DATABASE :"DBNAME" TO exhibit;
CREATE EXTENSION IF NOT EXISTS postgis;
CREATE EXTENSION IF NOT EXISTS vector;
-- It compares boxes and tells nothing of those that it leaves out: with this, searches of a region use their index.
ALTER FUNCTION geometry_overlaps(geometry, geometry) LEAKPROOF;
