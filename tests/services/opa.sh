#!/bin/sh
# Prepares the pinned `opa` and prints its path. Takes, in order: EXHIBIT_OPA_BIN, the PATH, the cache folder, a fresh build with Go.
set -eu
umask 022 # what is made is read by servers that run as others
version=1.22.0
cache=${EXHIBIT_CACHE:-.cache}

pinned() { [ -x "$1" ] && [ "$("$1" version 2>/dev/null | head -n 1)" = "Version: $version" ]; }

for place in "${EXHIBIT_OPA_BIN:-}" "$(command -v opa || true)" "$cache/opa-$version/opa"; do
	if [ -n "$place" ] && pinned "$place"; then
		echo "$place"
		exit 0
	fi
done

command -v go >/dev/null || {
	echo "opa $version is missing and there is no Go to build it with; set EXHIBIT_OPA_BIN" >&2
	exit 8
}
mkdir -p "$cache/opa-$version"
folder=$(cd "$cache/opa-$version" && pwd)
# The module proxy's checksum database vouches for the sources.
GOBIN="$folder" GOFLAGS=-trimpath CGO_ENABLED=0 go install "github.com/open-policy-agent/opa@v$version" >&2
pinned "$folder/opa" || {
	echo "the build is not opa $version" >&2
	exit 1
}
echo "$folder/opa"
