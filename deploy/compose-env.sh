#!/bin/sh
# Writes what compose.yaml needs: secrets that nobody chose (.env, for its owner alone) and OPA's bundle. Keeps a .env that is there.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
umask 077
if [ -e .env ]; then
	echo ".env is kept" >&2
else
	for name in POSTGRES_PASSWORD NEO4J_PASSWORD OPENSEARCH_PASSWORD OPA_TOKEN; do
		# OpenSearch asks for every kind of character
		echo "$name=$("$python" -c 'import secrets; print(secrets.token_hex(24) + "-Aa1")')"
	done >.env.new
	mv .env.new .env
	echo "secrets are in .env" >&2
fi
mkdir -p .compose
umask 022
"$python" -m policy.authoring.server_bundle .compose/bundle.tar.gz
