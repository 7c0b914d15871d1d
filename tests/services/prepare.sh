#!/usr/bin/env bash
# Prepares the real servers and tools that the service tests use, each by its own script; nothing stays running.
set -euo pipefail
cd "$(dirname "$0")"
for recipe in opa.sh neo4j.sh opensearch.sh postgres.sh ollama.sh trained.sh chromium.sh; do
  [ -x "$recipe" ] || continue
  # 8: a tool that the recipe needs is missing; its tests skip here, and fail in CI
  "./$recipe" prepare || { code=$?; [ "$code" -eq 8 ] && [ -z "${CI:-}" ] || exit "$code"; }
done
