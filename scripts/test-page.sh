#!/bin/sh
# Tests that take other people's programs and one processor: the page of boxsum view
# in a browser, and scikit-image's own tests.
set -eu
. "$(dirname "$0")/steps.sh"
oracles

step "scikit-image's own tests, with our functions in place of its own"
if package; then
	status=0
	folder=$(mktemp -d)
	$python scripts/dropin.py "$folder" || status=$?
	rm -rf "$folder"
	case $status in
	0) ;;
	77) left_out "scikit-image's own tests: they take PyPI" ;;
	*) exit 1 ;;
	esac
else
	left_out "scikit-image's own tests: they take the Python package"
fi

step "the page of boxsum view, in a browser"
if command -v chromium >/dev/null || command -v google-chrome >/dev/null; then
	[ -e .axe/axe.min.js ] || left_out "what axe-core says of the page: it takes npm"
	(cd internal/view/browser && go vet . && go test -timeout 40m .)
else
	left_out "the page of boxsum view: it takes chromium"
fi

step "passed"
