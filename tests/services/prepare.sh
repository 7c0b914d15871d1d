#!/usr/bin/env bash
# Prepares the real servers and tools that the service tests use, each by its own script; nothing stays running.
set -euo pipefail
cd "$(dirname "$0")"
for recipe in opa.sh; do
  [ -x "$recipe" ] || continue
  "./$recipe" prepare
done
