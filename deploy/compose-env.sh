#!/bin/sh
# Writes what compose.yaml needs: secrets that nobody chose (.env, for its owner alone) and OPA's bundle. Keeps the secrets that are there.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
umask 077
if [ -e .env ]; then cat .env; fi >.env.new
for name in POSTGRES_SUPERUSER_PASSWORD POSTGRES_PASSWORD NEO4J_PASSWORD OPENSEARCH_PASSWORD OPA_TOKEN; do
	if ! grep -q "^$name=" .env.new; then
		# OpenSearch asks for every kind of character
		echo "$name=$("$python" -c 'import secrets; print(secrets.token_hex(24) + "-Aa1")')" >>.env.new
	fi
done
mv .env.new .env
echo "secrets are in .env" >&2
mkdir -p .compose
umask 022
"$python" -m policy.authoring.server_bundle .compose/bundle.tar.gz
