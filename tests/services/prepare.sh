#!/usr/bin/env bash
# Prepares the real servers and tools that the service tests use, each by its own script; nothing stays running.
# What fails is tried again after each of PREPARE_PAUSES (seconds): a name server or an archive that is away for a minute fails no build.
set -euo pipefail
cd "$(dirname "$0")"
for recipe in opa.sh provtoolbox.sh neo4j.sh opensearch.sh postgres.sh ollama.sh trained.sh chromium.sh; do
  [ -x "$recipe" ] || continue
  for pause in ${PREPARE_PAUSES-15 60 180} last; do
    code=0
    "./$recipe" prepare || code=$?
    # 8: it cannot be had here; its tests skip, but in CI, where it has to be had
    if [ "$code" -eq 0 ] || { [ "$code" -eq 8 ] && [ -z "${CI:-}" ]; }; then break; fi
    [ "$pause" != last ] || exit "$code"
    echo "$recipe ended with $code; once more in $pause s" >&2
    sleep "$pause"
  done
done
