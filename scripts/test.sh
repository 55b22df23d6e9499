#!/bin/sh
# The tests of the module: what a change must pass before it is committed. CI runs more, see .ci/run.
# A part that cannot be had here, such as a library to compare with, is left out with a message.
set -eu
. "$(dirname "$0")/steps.sh"

step "gofmt and vet; meanwhile, setting up what tests compare with"
unformatted=$(git ls-files '*.go' | xargs gofmt -l)
[ -z "$unformatted" ] || { echo "not formatted by gofmt: $unformatted"; exit 1; }
go vet ./... & # compiles what the tests need while setup.sh waits for the network
vet=$!
scripts/setup.sh || { kill $vet; exit 1; }
wait $vet
references

step "tests"
go test -timeout 30m ./...

step "all passed"
