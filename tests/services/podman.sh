#!/usr/bin/env bash
# podman without systemd, and an image of PostgreSQL with PostGIS and pgvector made from the native recipe; no registry is asked.
#   podman.sh prepare    installs what is missing, makes the image (idempotent). Exit 8: cannot be had here
#   podman.sh serve      serves Docker's API on a socket in the foreground
#   podman.sh env        prints the variables that clients need
set -euo pipefail
umask 022 # what is made is read by servers that run as others
here=$(cd "$(dirname "$0")" && pwd)
cache=${EXHIBIT_CACHE:-$here/../../.cache}
mkdir -p "$cache/podman"
folder=$(cd "$cache/podman" && pwd)
image=localhost/exhibit-test-postgres:17
export CONTAINERS_CONF=$folder/containers.conf CONTAINERS_STORAGE_CONF=$folder/storage.conf

configure() {
	# Limits below the shell's own: raising a hard limit may be forbidden here. runc and files, because there may be no systemd.
	cat >"$CONTAINERS_CONF" <<-END
		[containers]
		default_ulimits = ["nofile=16384:16384", "nproc=16384:16384"]
		[network]
		network_backend = "netavark"
		[engine]
		runtime = "runc"
		cgroup_manager = "cgroupfs"
		events_logger = "file"
	END
	cat >"$CONTAINERS_STORAGE_CONF" <<-END
		[storage]
		driver = "overlay"
		runroot = "$folder/run"
		graphroot = "$folder/storage"
	END
}

installed() {
	[ -x /usr/lib/podman/netavark ] && command -v podman >/dev/null && command -v runc >/dev/null && command -v iptables >/dev/null
}

prepare() {
	[ "$(id -u)" = 0 ] || { echo "podman.sh: containers are tried as root only, this is $(id -un)" >&2; exit 8; }
	if ! installed; then
		command -v apt-get >/dev/null || { echo "podman.sh: there is no podman, and no apt-get to install it" >&2; exit 8; }
		apt-get -o Acquire::Retries=5 update -qq >&2
		DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=5 install -qq -y --no-install-recommends \
			podman conmon runc netavark aardvark-dns iptables >&2
	fi
	configure
	local made
	made=$(cat "$here"/postgres.lock "$here"/postgres-image/* "$here/postgres_image.py" | sha256sum | cut -c1-16)
	if podman image exists "$image" && [ "$(podman image inspect --format '{{.Labels.recipe}}' "$image")" = "$made" ]; then
		return
	fi
	rm -rf "$folder/context"
	mkdir "$folder/context"
	"$(python_of)" "$here/postgres_image.py" "$folder/context"
	podman build --quiet --label "recipe=$made" --tag "$image" "$folder/context" >&2
	rm -rf "$folder/context"
}

python_of() {
	local python=$here/../../.venv/bin/python
	[ -x "$python" ] && echo "$python" || echo python3
}

case ${1:-} in
prepare) prepare ;;
serve) exec podman system service --time=0 "unix://$folder/podman.sock" ;;
env)
	echo "CONTAINERS_CONF=$CONTAINERS_CONF"
	echo "CONTAINERS_STORAGE_CONF=$CONTAINERS_STORAGE_CONF"
	echo "DOCKER_HOST=unix://$folder/podman.sock"
	echo "TESTCONTAINERS_RYUK_DISABLED=true"
	echo "TESTCONTAINERS_CONNECTION_MODE=docker_host"
	echo "TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1"
	echo "EXHIBIT_TEST_POSTGRES_IMAGE=$image"
	;;
*)
	sed -n 2,5p "$0"
	exit 2
	;;
esac
