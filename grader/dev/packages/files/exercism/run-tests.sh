#!/usr/bin/env bash
# run-tests.sh
#
# Runs run.sh on every folder tests/SLUG/CASE/ and compares the status of the result with the one that
# expected_status in it names: pass, fail or error. Right solutions are not among the cases that
# come with this package; put yours there to try them, and keep them out of a public repository.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
failed=0
for case in "$root"/tests/*/*/; do
  slug=$(basename "$(dirname "$case")")
  expected=$(<"$case/expected_status")
  "$root/bin/run.sh" "${slug//_/-}" "$case" "$output/" >/dev/null
  found=$(sed -n 's/^  "status": "\([a-z]*\)".*/\1/p' "$output/results.json")
  if [ "$found" = "$expected" ]; then
    echo "ok    $slug/$(basename "$case"): $found"
  else
    echo "FAIL  $slug/$(basename "$case"): ${found:-no status}, expected $expected"
    failed=1
  fi
done
exit "$failed"
