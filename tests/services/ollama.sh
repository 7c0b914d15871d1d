#!/bin/sh
# The pinned Ollama without a container engine, built from the Go module proxy alone. Needs Go and a C++ compiler.
#   ollama.sh prepare    prints the program. Takes, in order: EXHIBIT_OLLAMA_BIN, the PATH, the cache folder, a fresh build.
# With EXHIBIT_TEST_OLLAMA_URL set there is nothing to prepare. Exit 8: it cannot be had here.
set -eu
umask 022 # what is made is read by servers that run as others
[ -z "${EXHIBIT_TEST_OLLAMA_URL:-}" ] || exit 0
version=0.17.4
here=$(cd "$(dirname "$0")" && pwd)
# Without these instructions a prompt of 3,000 tokens takes minutes; such a program runs on such machines only.
simd="" name=ollama-$version
if grep -qsw avx2 /proc/cpuinfo && grep -qsw fma /proc/cpuinfo && grep -qsw f16c /proc/cpuinfo; then
	simd=" -mavx2 -mfma -mf16c" name=$name-avx2
fi
cache=${EXHIBIT_CACHE:-$here/../../.cache}/$name

pinned() { [ -x "$1" ] && OLLAMA_HOST=127.0.0.1:9 "$1" --version 2>/dev/null | grep -q "version is $version\$"; }

missing() {
	echo "ollama $version cannot be built: $1; set EXHIBIT_OLLAMA_BIN or EXHIBIT_TEST_OLLAMA_URL" >&2
	exit 8
}

# The folder of module $1 in the module cache, whose contents have the hash $2.
module() {
	told=$(go mod download -json "$1") || missing "the module $1 cannot be fetched"
	printf '%s\n' "$told" | grep -qF "\"Sum\": \"$2\"" || {
		echo "$1 is not the module that is pinned" >&2
		exit 1
	}
	printf '%s\n' "$told" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p'
}

# Module archives leave out every folder named vendor, and with it three headers. Other modules carry them.
headers() {
	older=$(module github.com/ollama/ollama@v0.5.7 "h1:YFxF3UYc3TbOH/j/OhJoxl4LOvPQRcuKUdI5txs/pkc=")
	audio=$(module github.com/gen2brain/malgo@v0.11.24 "h1:hHcIJVfzWcEDHFdPl5Dl/CUSOjzOleY0zzAV8Kx+imE=")
	mkdir -p "$1/nlohmann" "$1/stb" "$1/miniaudio"
	cp "$older/llama/json.hpp" "$1/nlohmann/json.hpp"
	echo '#include <nlohmann/json.hpp>' >"$1/nlohmann/json_fwd.hpp"
	cp "$older/llama/stb_image.h" "$1/stb/"
	cp "$audio/miniaudio.h" "$1/miniaudio/"
}

build() {
	command -v go >/dev/null || missing "there is no go"
	command -v g++ >/dev/null || missing "there is no g++"
	module "github.com/ollama/ollama@v$version" "h1:X3KNm9x4BlHqk/AXMGtC7pBAFd46nmJmy8yDaBZLo9s=" >/dev/null
	fresh=$(mktemp -d "$cache/build.XXXXXX")
	trap 'rm -rf "$fresh"' EXIT
	headers "$fresh/include"
	# Without -g the C++ half compiles in two thirds of the time and space.
	CPATH="$fresh/include" GOBIN="$fresh" CGO_ENABLED=1 CGO_CFLAGS="-O2$simd" CGO_CXXFLAGS="-O2$simd" GOFLAGS=-trimpath go install \
		-ldflags "-w -s -X=github.com/ollama/ollama/version.Version=$version" "github.com/ollama/ollama@v$version" >&2
	pinned "$fresh/ollama" || {
		echo "the build is not ollama $version" >&2
		exit 1
	}
	mkdir -p "$cache/bin"
	mv -f "$fresh/ollama" "$cache/bin/ollama"
}

[ "${1:-prepare}" = prepare ] || {
	echo "usage: ollama.sh prepare" >&2
	exit 2
}
for place in "${EXHIBIT_OLLAMA_BIN:-}" "$(command -v ollama || true)" "$cache/bin/ollama"; do
	if [ -n "$place" ] && pinned "$place"; then
		echo "$place"
		exit 0
	fi
done
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
exec 9>"$cache/lock"
! command -v flock >/dev/null || flock 9
pinned "$cache/bin/ollama" || build
echo "$cache/bin/ollama"
