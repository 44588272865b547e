#!/usr/bin/env bash
# run.sh SLUG SOLUTION_DIR OUTPUT_DIR
#
# Grades one solution and leaves OUTPUT_DIR/results.json, as version 3 of Exercism's interface for test
# runners has it. An older one goes first. The new one says at once that nothing could be graded;
# only a grader that has done its work puts another in its place, in one step.
#
# Exit code 0: the result is of the solution, whether it passes or not. 3: nothing could be graded,
# and there is no other result than the one that says so, or none where nothing can be written.
set -uo pipefail # not -e: whatever fails, a result is left

stopped() {
  echo "the grader gave no result ($1)" >&2
  exit 3
}
[ $# -eq 3 ] || stopped "usage: run.sh SLUG SOLUTION_DIR OUTPUT_DIR"
slug=${1//-/_} # a slug of Exercism has hyphens, which the name of a Python file cannot have
solution=$2 output=$3
export PYTHONSAFEPATH=1 PYTHONDONTWRITEBYTECODE=1
# In here, so that it is there whatever else of the image is missing.
fault={{ fault }}

result=$output/results.json new=$output/.results-new
if ! { mkdir -p "$output" && rm -rf "$result" "$new" && printf '%s\n' "$fault" >"$new" && mv -f "$new" "$result"; }; then
  rm -f "$new" # it may be there and empty
  stopped "$result: cannot be written"
fi
[ -d "$solution" ] || stopped "$solution: no such folder"
rm -rf "$output"/.grade-* # of a grading that was killed
work=$(mktemp -d "$output/.grade-XXXXXX") || stopped "nothing more can be written to $output"
trap 'rm -rf "$work"' EXIT

grade run "$solution/$slug.py" --problem "$slug" --require-isolation \
  --format exercism -o "$work/results.json" </dev/null
code=$?

# 0 and 1: graded. 2 with a result: no file that can be graded. Without one, as with a slug that is no
# problem's, and with 3 it is nobody's result.
{ [ "$code" -le 2 ] && [ -s "$work/results.json" ]; } || stopped "exit code $code"
mv -f "$work/results.json" "$result" || stopped "nothing more can be written to $output"
