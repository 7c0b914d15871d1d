#!/bin/sh
# Prepares the pinned PostgreSQL with PostGIS and pgvector, unless EXHIBIT_TEST_POSTGIS_DSN names a server. Exit 8: cannot be had here.
set -eu
umask 022 # what is made is read by servers that run as others
[ -z "${EXHIBIT_TEST_POSTGIS_DSN:-}" ] || exit 0
here=$(dirname "$0")
python=$here/../../.venv/bin/python
[ -x "$python" ] || python=python3
exec "$python" "$here/postgres_server.py" "${1:-prepare}"
