#!/bin/sh
# The pinned Neo4j community server without a container engine. Needs Maven and a JDK 17 or newer.
#   neo4j.sh prepare            fetches the jars into the cache folder, checks each, prints their folder
#   neo4j.sh run FOLDER PORT    serves FOLDER on 127.0.0.1:PORT in this process; "Started." in FOLDER/server.log says when.
#                               The first run of a folder makes the user neo4j with the password in NEO4J_PASSWORD.
# With FOLDER/certificates/server.pem and server.key it speaks TLS alone. SIGTERM ends it cleanly, SIGKILL is a crash.
set -eu
umask 022 # what is made is read by servers that run as others
version=5.26.30
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${EXHIBIT_CACHE:-$root/.cache}/neo4j-$version
java=${JAVA_HOME:+$JAVA_HOME/bin/}java

. "$here/jars.sh"
prepare() { prepare_jars neo4j "$version" "$here/neo4j-server" neo4j.version "$cache"; }

configure() {
	mkdir -p "$1/conf"
	tls=DISABLED
	[ ! -e "$1/certificates/server.pem" ] || tls=REQUIRED
	cat >"$1/conf/neo4j.conf" <<C
server.default_listen_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:$2
server.bolt.advertised_address=127.0.0.1:$2
server.bolt.tls_level=$tls
server.http.enabled=false
server.https.enabled=false
dbms.security.auth_enabled=true
dbms.usage_report.enabled=false
server.memory.pagecache.size=64m
db.tx_log.preallocate=false
db.tx_log.rotation.size=16m
internal.dbms.bolt.netty_server_shutdown_quiet_period=0
C
	[ $tls = DISABLED ] || cat >>"$1/conf/neo4j.conf" <<C
dbms.ssl.policy.bolt.enabled=true
dbms.ssl.policy.bolt.base_directory=$1/certificates
dbms.ssl.policy.bolt.private_key=server.key
dbms.ssl.policy.bolt.public_certificate=server.pem
dbms.ssl.policy.bolt.client_auth=NONE
C
}

run() {
	prepare
	folder=$1
	configure "$folder" "$2"
	if [ ! -e "$folder/data" ]; then
		: "${NEO4J_PASSWORD:?the first run of a folder needs a password}"
		NEO4J_HOME=$folder NEO4J_CONF=$folder/conf "$java" -Xmx256m -XX:+UseSerialGC -cp "$cache/lib/*" org.neo4j.cli.AdminTool \
			dbms set-initial-password "$NEO4J_PASSWORD" >"$folder/server.log" 2>&1
	fi
	unset NEO4J_PASSWORD
	exec "$java" -Xms128m -Xmx512m -XX:+UseSerialGC -XX:+ExitOnOutOfMemoryError -Dlog4j2.disable.jmx=true \
		-Dio.netty.tryReflectionSetAccessible=true --add-opens=java.base/java.nio=ALL-UNNAMED \
		--add-opens=java.base/java.io=ALL-UNNAMED --add-opens=java.base/sun.nio.ch=ALL-UNNAMED \
		--enable-native-access=ALL-UNNAMED -Dfile.encoding=UTF-8 -cp "$cache/lib/*" \
		org.neo4j.server.CommunityEntryPoint --home-dir="$folder" --config-dir="$folder/conf" --console-mode \
		>>"$folder/server.log" 2>&1 </dev/null
}

case ${1:-} in
prepare)
	prepare
	echo "$cache/lib"
	;;
run) run "$(mkdir -p "$2" && cd "$2" && pwd)" "$3" ;;
*)
	echo "usage: neo4j.sh prepare | run FOLDER PORT" >&2
	exit 2
	;;
esac
