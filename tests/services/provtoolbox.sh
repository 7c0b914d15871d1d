#!/bin/sh
# ProvToolbox's reader of PROV-JSONLD, by whose words the product's documents are read. Needs Maven and a JDK 17 or newer.
#   provtoolbox.sh prepare                fetches the jars into the cache folder and checks each
#   provtoolbox.sh read IN OUT [IN OUT]   reads PROV-JSONLD and writes what was understood as PROV-JSON
# Exit 8: a tool that this needs is missing.
set -eu
version=2.2.1
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${EXHIBIT_CACHE:-$root/.cache}/provtoolbox-$version
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
sums=$here/provtoolbox/jars.sha256

missing() {
	echo "ProvToolbox $version cannot be prepared: $1" >&2
	exit 8
}

checked() { (cd "$1" && sha256sum --quiet --strict -c "$sums" && [ "$(ls | wc -l)" -eq "$(wc -l <"$sums")" ]) >&2; }

prepare() {
	[ -f "$cache/lib/.ok" ] && [ "$sums" -ot "$cache/lib/.ok" ] && return
	command -v "$java" >/dev/null || missing "there is no java"
	command -v mvn >/dev/null || missing "there is no mvn"
	mkdir -p "$cache"
	fresh=$(mktemp -d "$cache/lib.XXXXXX")
	trap 'rm -rf "$fresh"' EXIT
	mvn -q -B -C -f "$here/provtoolbox/pom.xml" -Dprovtoolbox.version="$version" dependency:copy-dependencies \
		-DincludeScope=runtime -DoutputDirectory="$fresh" >&2
	checked "$fresh" || {
		echo "the jars of ProvToolbox $version are not those of jars.sha256" >&2
		exit 1
	}
	rm -rf "$cache/lib"
	mv "$fresh" "$cache/lib"
	: >"$cache/lib/.ok"
	trap - EXIT
}

case ${1:-} in
prepare) prepare ;;
read)
	prepare
	shift
	exec "$java" -cp "$cache/lib/*" "$here/provtoolbox/ReadJsonld.java" "$@"
	;;
*) echo "usage: provtoolbox.sh prepare | read IN OUT [IN OUT ...]" >&2 && exit 2 ;;
esac
