#!/bin/sh
# Checks boxsum's dependencies: modules match go.sum, have permissive licenses and no known vulnerability, and
# workflows are secure.
set -eu
. "$(dirname "$0")/steps.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
modules=$(git ls-files '*go.mod' | grep -v 'testdata\|internal/tools') # modules whose packages belong to the project

step "modules are what go.sum says"
for module in $(git ls-files '*go.mod' | grep -v testdata); do
	(cd "$(dirname "$module")" && go mod verify >/dev/null && echo "$module: verified")
done

step "licenses"
go build -o "$scratch/go-licenses" -modfile=internal/tools/go.mod github.com/google/go-licenses/v2
allowed=Apache-2.0,BSD-2-Clause,BSD-3-Clause,CC0-1.0,ISC,MIT,MPL-2.0,Unlicense
for module in $modules; do
	# CGO_ENABLED=1 includes the library for Python even if there is no C compiler. Without GOROOT, every package
	# of a program built with -trimpath would be mistaken for one of the standard library.
	(cd "$(dirname "$module")" && GOROOT=$(go env GOROOT) CGO_ENABLED=1 "$scratch/go-licenses" check --include_tests --allowed_licenses=$allowed --ignore github.com/boxsum/boxsum ./... >"$scratch/log" 2>&1) || {
		cat "$scratch/log"
		exit 1
	}
	echo "$module: allowed"
done

step "workflows"
actionlint=github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
if go run $actionlint -version >/dev/null 2>&1; then
	go run $actionlint -shellcheck= -pyflakes=
else
	left_out "actionlint: $actionlint could not be had"
fi

# The database is on a web server, which machines without a network cannot reach: GOVULNDB names it or a copy of
# it, if the check must not be skipped.
step "known vulnerabilities"
govulncheck=golang.org/x/vuln/cmd/govulncheck@v1.9.0
database=${GOVULNDB:-https://vuln.go.dev}
if [ -n "${GOVULNDB:-}" ] || curl -sf -m 10 -o /dev/null "$database/index/db.json" 2>/dev/null; then
	GOBIN=$scratch go install $govulncheck
	for module in $modules; do
		(cd "$(dirname "$module")" && "$scratch/govulncheck" -db "$database" ./...)
	done
else
	echo "left out: $database is not reached from here"
fi
