#!/usr/bin/env bash
# grade.sh SUBMISSION RESULTS [CLOSED]... (absolute paths)
#
# Grades the one file for {{ slug }} in the folder SUBMISSION, and leaves RESULTS/results.json. An older
# one goes first. The new one says at once that the submission could not be graded; only a grader
# that has done its work puts another in its place, in one step. So there is never an old result.
#
# Exit code 0: there is a result. 3: there is none, since nothing can be written to RESULTS.
#
# As root, submissions run as other users. This folder, RESULTS and whatever is CLOSED are kept from
# them; RESULTS is opened again at the end, and stays closed where this script is killed.
# KIT_PYTHON names the Python to run, where it is not that of /opt/kit.
set -uo pipefail # not -e: whatever fails, a result is left
umask 022

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
submission=$1 results=$2
python=${KIT_PYTHON:-/opt/kit/bin/python}
# In here, so that it is there whatever else of the package is missing.
fault={{ fault }}

result=$results/results.json new=$results/.results-new
if ! { cd / && mkdir -p "$results" && rm -rf "$result" "$new" && printf '%s\n' "$fault" >"$new" && mv -f "$new" "$result"; }; then
  rm -f "$new" # it may be there and empty
  echo "$result: cannot be written; there is no result" >&2
  exit 3
fi

stopped() { # the result stays as it is, if nobody has taken it away
  echo "the grader gave no result ($1)" >&2
  [ -s "$result" ] || exit 3
  exit 0
}
[ -d "$submission" ] || stopped "$submission: no such folder"

mode=$(stat -L -c %a "$results") # of the folder, where it is a link to one
for closed in "$here" "$submission" "$results" "${@:3}"; do
  [ -e "$closed" ] || continue
  chmod go= "$closed" || echo "$closed: could not be closed to other users" >&2
done
trap 'chmod "$mode" "$results"' EXIT
rm -rf "$results"/.grade-* # of a grading that was killed
work=$(mktemp -d "$results/.grade-XXXXXX") || stopped "nothing more can be written to $results"
trap 'rm -rf "$work"; chmod "$mode" "$results"' EXIT

# An environment from nothing: neither Python nor the grader is set up by what a platform has set.
env -i PATH=/usr/bin:/bin LANG=C.UTF-8 HOME="$work" XDG_CACHE_HOME="$here/cache" \
  ${LD_LIBRARY_PATH:+LD_LIBRARY_PATH="$LD_LIBRARY_PATH"} PYTHONPATH="$here/kit" \
  timeout --kill-after=5 {{ limit }} \
  "$python" -P -m grader {{ kit }} run "$submission" --problem {{ slug }} {{ arguments }} \
  --require-isolation -o "$work/results.json" </dev/null
code=$?

# 0 and 1: graded; 2 with a result: nothing that can be graded was handed in; 3: a fault of the kit.
{ [ "$code" -le 3 ] && [ -s "$work/results.json" ]; } || stopped "exit code $code"
mv -f "$work/results.json" "$result" || stopped "nothing more can be written to $results"
exit 0
