#!/bin/sh
# Makes the data folder at the first start, as the official image does: POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB, and what
# lies in /docker-entrypoint-initdb.d.
set -eu
: "${POSTGRES_USER:=postgres}" "${POSTGRES_DB:=${POSTGRES_USER:-postgres}}" "${POSTGRES_PASSWORD:?}"
settings="-c unix_socket_directories=/tmp -c jit=off -c dynamic_shared_memory_type=mmap"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
	umask 077
	mkdir -p "$PGDATA"
	printf '%s\n' "$POSTGRES_PASSWORD" >/tmp/password
	initdb -D "$PGDATA" -U "$POSTGRES_USER" -E UTF8 --locale-provider=builtin --builtin-locale=C.UTF-8 --locale=C \
		--auth=scram-sha-256 --pwfile=/tmp/password >/dev/null
	rm /tmp/password
	echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
	[ "$POSTGRES_DB" = postgres ] || echo "CREATE DATABASE \"$POSTGRES_DB\"" | postgres --single -D "$PGDATA" postgres >/dev/null
	for script in /docker-entrypoint-initdb.d/*.sql; do
		[ -e "$script" ] || continue
		pg_ctl -D "$PGDATA" -w -o "$settings -c listen_addresses=" start >/dev/null
		PGPASSWORD=$POSTGRES_PASSWORD psql -h /tmp -U "$POSTGRES_USER" -d "$POSTGRES_DB" -X -q -f "$script"
		pg_ctl -D "$PGDATA" -w -m fast stop >/dev/null
	done
fi
# shellcheck disable=SC2086 - words
exec postgres -D "$PGDATA" -c listen_addresses='*' $settings "$@"
