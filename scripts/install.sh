#!/bin/sh
# Installs Debian packages, on Debian or Ubuntu and with sufficient privileges.
set -eu
if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
	echo "cannot install $*: it takes apt-get and root" >&2
	exit 1
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null
