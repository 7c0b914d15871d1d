#!/bin/sh
# The pinned OpenSearch without a container engine. Needs Maven, and a JDK 21 or newer (in JAVA_HOME, on the path, or under /usr/lib/jvm).
#   opensearch.sh prepare [secure]              fetches the jars into the cache folder, checks each, prints their folder
#   opensearch.sh run FOLDER PORT [secure]      serves FOLDER on 127.0.0.1:PORT in this process; "Started." in FOLDER/server.log says when
# `secure` is the build with the security plug-in: TLS with FOLDER/config/cert.pem, basic authentication, the password of the user
# `exhibit` from OPENSEARCH_PASSWORD. SIGTERM ends it cleanly, SIGKILL is a crash. Exit 8: a tool that this needs is missing.
set -eu
umask 022 # what is made is read by servers that run as others
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
case ${1:-} in prepare) kind=${2:-plain} ;; *) kind=${4:-plain} ;; esac
case $kind in plain) version=3.8.0 ;; secure) version=3.4.0 ;; *) echo "no such build: $kind" >&2 && exit 2 ;; esac
cache=${EXHIBIT_CACHE:-$root/.cache}/opensearch-$version-$kind
source=$here/opensearch-server
sums=$source/$kind.sha256

missing() {
	echo "opensearch $version cannot be prepared: $1" >&2
	exit 8
}

find_jdk() {
	for home in "${JAVA_HOME:-}" "$(dirname "$(dirname "$(readlink -f "$(command -v javac || echo /none/bin/javac)")")")" $(ls -d /usr/lib/jvm/* 2>/dev/null | sort -rV); do
		[ -x "$home/bin/javac" ] || continue
		major=$("$home/bin/javac" -version 2>&1 | sed 's/^javac \([0-9]*\).*/\1/')
		[ "$major" -ge 21 ] 2>/dev/null && echo "$home" && return
	done
	missing "there is no JDK 21 or newer"
}

checked() { (cd "$1" && sha256sum --quiet --strict -c "$sums" && [ "$(ls | wc -l)" -eq "$(wc -l <"$sums")" ]) >&2; }

# The plug-in's archive holds jars that the server brings in other versions: only those that are not there yet are taken.
unpack_plugin() {
	for archive in "$1"/*.zip; do
		[ -f "$archive" ] || continue
		mkdir "$1/plugin"
		(cd "$1/plugin" && "$2/bin/jar" xf "$archive")
		for jar in "$1"/plugin/*.jar; do
			name=$(basename "$jar")
			ls "$1/${name%%-[0-9]*}"-[0-9]*.jar >/dev/null 2>&1 || mv "$jar" "$1/"
		done
		rm -rf "$1/plugin" "$archive"
	done
}

prepare() {
	[ -f "$cache/lib/.ok" ] && [ "$sums" -ot "$cache/lib/.ok" ] && [ "$source/Serve.java" -ot "$cache/lib/.ok" ] && return
	jdk=$(find_jdk)
	command -v mvn >/dev/null || missing "there is no mvn"
	mkdir -p "$cache"
	fresh=$(mktemp -d "$cache/lib.XXXXXX")
	trap 'rm -rf "$fresh"' EXIT
	mvn -q -B -C -f "$source/pom.xml" $([ $kind = plain ] || echo -Psecure) dependency:copy-dependencies -DincludeScope=runtime \
		-DoutputDirectory="$fresh" >&2
	rm -f "$fresh"/netty-*-osx-*.jar "$fresh"/netty-*-windows-*.jar
	unpack_plugin "$fresh" "$jdk"
	if [ -n "${EXHIBIT_WRITE_SUMS:-}" ]; then (cd "$fresh" && sha256sum *.jar) >"$sums"; fi
	checked "$fresh" || {
		echo "the jars of opensearch $version are not those of $kind.sha256" >&2
		exit 1
	}
	mkdir "$fresh/.classes"
	"$jdk/bin/javac" -cp "$fresh/*" -d "$fresh/.classes" "$source/Serve.java" >&2
	"$jdk/bin/jar" cf "$fresh/aaa-serve.jar" -C "$fresh/.classes" .
	rm -rf "$fresh/.classes" "$cache/lib"
	mv "$fresh" "$cache/lib"
	rehearse "$jdk"
	: >"$cache/lib/.ok"
	trap - EXIT
}

# Becomes the server's Java: `java_of JDK FOLDER ARGUMENT...`
java_of() {
	home=$1 folder=$2
	shift 2
	[ ! -f "$cache/lib/classes.jsa" ] || set -- -XX:SharedArchiveFile="$cache/lib/classes.jsa" "$@"
	exec "$home/bin/java" -Xms128m -Xmx512m -XX:+UseSerialGC -XX:+ExitOnOutOfMemoryError -Djava.io.tmpdir="$folder/tmp" -Dfile.encoding=UTF-8 \
		-Djava.awt.headless=true -Dlog4j2.configurationFile="$source/log4j2.xml" -Dlog4j2.disable.jmx=true -Dio.netty.noUnsafe=true \
		-Xlog:cds=off -Xlog:cds+dynamic=off --enable-native-access=ALL-UNNAMED --add-modules=jdk.incubator.vector -cp "$cache/lib/*" "$@" </dev/null
}

# Starts once without the security plug-in, to keep what the classes are loaded to: it halves every later start. Works without, too.
rehearse() {
	scene=$(mktemp -d "$cache/rehearsal.XXXXXX")
	mkdir "$scene/tmp"
	java_of "$1" "$scene" -XX:ArchiveClassesAtExit="$cache/lib/classes.jsa" Serve "$scene" 0 >"$scene/log" 2>&1 &
	for _ in $(seq 300); do
		grep -q '^Started' "$scene/log" && break
		sleep 1
	done
	kill $! 2>/dev/null || true
	wait $! || true
	rm -rf "$scene"
}

# A certificate for this folder, the plug-in's own rules of who may do what, and one user.
secure() {
	mkdir -p "$1/config/opensearch-security"
	[ -f "$1/config/cert.pem" ] || openssl req -x509 -newkey rsa:2048 -nodes -days 30 -keyout "$1/config/key.pem" -out "$1/config/cert.pem" \
		-subj "/CN=one/O=exhibit-tests" -addext "subjectAltName=DNS:localhost,RID:1.2.3.4.5.5" 2>/dev/null
	[ -f "$1/config/opensearch-security/config.yml" ] || configure_security "$1/config/opensearch-security" "$2"
	chmod -R go= "$1/config"
}

configure_security() {
	: "${OPENSEARCH_PASSWORD:?the first run of a folder needs a password}"
	hash=$("$2/bin/java" -cp "$cache/lib/*" org.opensearch.security.tools.Hasher -env OPENSEARCH_PASSWORD 2>/dev/null | tail -1)
	for name in roles roles_mapping internal_users action_groups tenants nodes_dn allowlist audit; do
		type=$(echo $name | tr -d _)
		printf '_meta:\n  type: "%s"\n  config_version: 2\n' "$type" >"$1/$name.yml"
	done
	cat >"$1/config.yml" <<C
_meta:
  type: "config"
  config_version: 2
config:
  dynamic:
    authc:
      basic:
        http_enabled: true
        order: 0
        http_authenticator: {type: basic, challenge: true}
        authentication_backend: {type: intern}
C
	printf 'exhibit:\n  hash: "%s"\n  backend_roles: ["admin"]\n' "$hash" >>"$1/internal_users.yml"
	printf 'all_access:\n  backend_roles: ["admin"]\n' >>"$1/roles_mapping.yml"
}

run() {
	prepare
	folder=$1
	port=$2
	jdk=$(find_jdk)
	set --
	if [ $kind = secure ]; then
		secure "$folder" "$jdk"
		k=plugins.security
		set -- $k.ssl.transport.pemcert_filepath=cert.pem $k.ssl.transport.pemkey_filepath=key.pem $k.ssl.transport.pemtrustedcas_filepath=cert.pem \
			$k.ssl.transport.enforce_hostname_verification=false $k.ssl.http.enabled=true $k.ssl.http.pemcert_filepath=cert.pem \
			$k.ssl.http.pemkey_filepath=key.pem $k.ssl.http.pemtrustedcas_filepath=cert.pem $k.allow_default_init_securityindex=true \
			$k.restapi.roles_enabled=all_access $k.nodes_dn=CN=one,O=exhibit-tests
		module=-Dexhibit.module=opensearch-security=org.opensearch.security.OpenSearchSecurityPlugin
	fi
	unset OPENSEARCH_PASSWORD
	mkdir -p "$folder/tmp"
	java_of "$jdk" "$folder" ${module:-} Serve "$folder" "$port" "$@" >>"$folder/server.log" 2>&1
}

case ${1:-} in
prepare)
	prepare
	echo "$cache/lib"
	;;
run) run "$(mkdir -p "$2" && cd "$2" && pwd)" "$3" ;;
*)
	echo "usage: opensearch.sh prepare [secure] | run FOLDER PORT [secure]" >&2
	exit 2
	;;
esac
