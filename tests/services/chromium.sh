#!/usr/bin/env bash
# The browser in which the receipt's page is tested: the system's chromium, or the one that EXHIBIT_TEST_CHROMIUM names.
#   chromium.sh prepare    installs the Debian package where there is none and this account may; exit code 8: it may not
set -euo pipefail
umask 022 # what is made is read by servers that run as others
[ "${1:-}" = prepare ] || { sed -n '2,3p' "$0" >&2; exit 2; }
program=${EXHIBIT_TEST_CHROMIUM:-$(command -v chromium || true)}
if [ -z "$program" ]; then
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "chromium: there is none; install the system's package, or set EXHIBIT_TEST_CHROMIUM" >&2
    exit 8
  fi
  apt-get -o Acquire::Retries=5 update >&2
  apt-get -o Acquire::Retries=5 install --yes --no-install-recommends chromium >&2
  program=$(command -v chromium)
fi
"$program" --version
