#!/bin/sh
# The tests of the module, which a change must pass before it is committed, except those of package gpu, which
# make test-gpu runs. CI runs more, see .ci/run.
# Parts that are not available here, such as a library to compare with, are skipped with a message.
set -eu
. "$(dirname "$0")/steps.sh"

step "gofmt and vet; meanwhile, setting up what tests compare with"
unformatted=$(git ls-files '*.go' | xargs gofmt -l)
[ -z "$unformatted" ] || { echo "not formatted by gofmt: $unformatted"; exit 1; }
{
	go vet ./...
	go list -export -test ./... >/dev/null # compiles the tests while setup.sh waits for the network
} &
vet=$!
scripts/setup.sh || { kill $vet; exit 1; }
wait $vet
references

step "tests"
go test -timeout 30m $(go list ./... | grep -v '/boxsum/gpu')

step "all passed"
