#!/usr/bin/env bash
# run.sh SLUG SOLUTION_DIR OUTPUT_DIR
#
# Grades one solution and leaves OUTPUT_DIR/results.json, as version 3 of Exercism's interface for test
# runners has it. That file says from the first moment on that nothing could be graded; only a
# grader that has done its work puts another in its place, in one step.
#
# Exit code 0: the result is of the solution, whether it passes or not. 3: nothing could be graded.
set -uo pipefail # not -e: whatever fails, a result is left

if [ $# -ne 3 ]; then
  echo "usage: run.sh SLUG SOLUTION_DIR OUTPUT_DIR" >&2
  exit 2
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
slug=${1//-/_} # a slug of Exercism has hyphens, which the name of a Python file cannot have
solution=$2 output=$3
export PYTHONSAFEPATH=1 PYTHONDONTWRITEBYTECODE=1

mkdir -p "$output"
work=$(mktemp -d "$output/.grade-XXXXXX") || exit 3
trap 'rm -rf "$work"' EXIT
rm -rf "$output/results.json"
cp "$root/could_not_grade.json" "$work/results.json"
mv -f "$work/results.json" "$output/results.json"

grade run "$solution/$slug.py" --problem "$slug" --require-isolation \
  --format exercism -o "$work/results.json" </dev/null
code=$?

# 0 and 1: graded; 2: not a file that can be read. A fault of the grader is nobody's result.
if [ "$code" -le 2 ] && [ -s "$work/results.json" ]; then
  mv -f "$work/results.json" "$output/results.json"
  exit 0
fi
echo "the grader gave no result (exit code $code)" >&2
exit 3
