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

. "$here/jars.sh"
prepare() { prepare_jars ProvToolbox "$version" "$here/provtoolbox" provtoolbox.version "$cache"; }

case ${1:-} in
prepare) prepare ;;
read)
	prepare
	shift
	exec "$java" -cp "$cache/lib/*" "$here/provtoolbox/ReadJsonld.java" "$@"
	;;
*) echo "usage: provtoolbox.sh prepare | read IN OUT [IN OUT ...]" >&2 && exit 2 ;;
esac
