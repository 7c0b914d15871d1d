#!/bin/sh
# Makes the data folder at the first start, as the official image does: POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB.
set -eu
: "${POSTGRES_USER:=postgres}" "${POSTGRES_DB:=${POSTGRES_USER:-postgres}}" "${POSTGRES_PASSWORD:?}"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
	umask 077
	mkdir -p "$PGDATA"
	printf '%s\n' "$POSTGRES_PASSWORD" >/tmp/password
	initdb -D "$PGDATA" -U "$POSTGRES_USER" -E UTF8 --locale-provider=builtin --builtin-locale=C.UTF-8 --locale=C \
		--auth=scram-sha-256 --pwfile=/tmp/password >/dev/null
	rm /tmp/password
	echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
	[ "$POSTGRES_DB" = postgres ] || echo "CREATE DATABASE \"$POSTGRES_DB\"" | postgres --single -D "$PGDATA" postgres >/dev/null
fi
exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/tmp -c jit=off -c dynamic_shared_memory_type=mmap "$@"
