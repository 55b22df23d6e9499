#!/bin/sh
# Runs every fuzzer of the project for the given time, such as 1m, except those in folders
# that match an optional pattern after it.
set -eu
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Before Go 1.27 a fuzzer may fail with "context deadline exceeded" when its time is over
# (golang/go#75804). If it wrote no failing input, it has found nothing and gets more time;
# any other message is a failure.
fuzz() {
	for _ in first second third; do
		code=0
		go test -run '^$' -fuzz "^$2\$" -fuzztime "$1" -fuzzminimizetime 10x "$3" >"$log" 2>&1 || code=$?
		cat "$log"
		if [ $code = 0 ]; then
			return 0
		fi
		if grep -q 'Failing input written' "$log" || ! grep -q '^ *context deadline exceeded$' "$log"; then
			return $code
		fi
	done
	return $code
}

files=$(git grep -l '^func Fuzz' -- '*_test.go' | sed 's,^,./,' | grep -Ev "^./${2:-none/}")
for file in $files; do
	sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$file" | while read -r name; do
		echo "== $name for $1"
		fuzz "$1" "$name" "$(dirname "$file")"
	done
done
