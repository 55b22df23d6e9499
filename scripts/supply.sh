#!/bin/sh
# Checks what boxsum is made of besides its own code: modules are those of go.sum, their
# licences are of the permissive kind, none has a known vulnerability, and workflows are sound.
set -eu
. "$(dirname "$0")/steps.sh"

step "modules are what go.sum says"
for module in $(git ls-files '*go.mod' | grep -v testdata); do
	(cd "$(dirname "$module")" && go mod verify >/dev/null && echo "$module: verified")
done

step "what builds releases"
(cd internal/release && go vet . && go test .)

step "licences"
go -C internal/release run . licences

step "workflows"
actionlint=github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
if go run $actionlint -version >/dev/null 2>&1; then
	go run $actionlint -shellcheck= -pyflakes=
else
	left_out "actionlint: $actionlint could not be had"
fi

# The database is a web server, which machines without a network do not reach: GOVULNDB
# names it, or a copy of it, where the check must not be left out.
step "known vulnerabilities"
govulncheck=golang.org/x/vuln/cmd/govulncheck@v1.9.0
database=${GOVULNDB:-https://vuln.go.dev}
if [ -n "${GOVULNDB:-}" ] || curl -sf -m 10 -o /dev/null "$database/index/db.json" 2>/dev/null; then
	program=$(mktemp -d)
	GOBIN=$program go install $govulncheck
	for module in $(git ls-files '*go.mod' | grep -v testdata); do
		(cd "$(dirname "$module")" && "$program/govulncheck" -db "$database" ./...)
	done
	rm -rf "$program"
else
	echo "left out: $database is not reached from here"
fi
