#!/bin/sh
# Installs Azurite, the emulator of Azure's blobs, from npm into .venv/azurite: the tests of the module cloud talk to it.
set -eu
cd "$(dirname "$0")/.."
version=3.35.0
grep -qs "^$version$" .venv/azurite/version && exit 0
command -v npm >/dev/null || scripts/install.sh npm
mkdir -p .venv/azurite
(cd .venv/azurite && npm install --silent --no-audit --no-fund --prefix . azurite@$version)
echo $version >.venv/azurite/version
