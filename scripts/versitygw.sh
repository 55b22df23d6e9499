#!/bin/sh
# Builds versitygw, an S3 server on a folder, into .venv/versitygw: the tests of the module cloud talk to it. It takes some
# minutes the first time.
set -eu
cd "$(dirname "$0")/.."
version=v1.8.0
grep -qs "^$version$" .venv/versitygw/version && exit 0
mkdir -p .venv/versitygw
GOBIN="$PWD/.venv/versitygw" go install github.com/versity/versitygw/cmd/versitygw@$version
echo $version >.venv/versitygw/version
