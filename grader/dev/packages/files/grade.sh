#!/usr/bin/env bash
# grade.sh SUBMISSION RESULTS [CLOSED]...
#
# Grades the one file for {{ slug }} in the folder SUBMISSION, and leaves RESULTS/results.json. That file
# says from the first moment on that the submission could not be graded; only a grader that has done
# its work puts another in its place, in one step. So there is always a result, and never an old one.
#
# As root, submissions run as other users. This folder, RESULTS and whatever is CLOSED are kept from
# them. KIT_PYTHON names the Python to run, where it is not that of /opt/kit.
set -uo pipefail # not -e: whatever fails, a result is left
umask 022

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
submission=$1 results=$2
python=${KIT_PYTHON:-/opt/kit/bin/python}
cd / || exit

mkdir -p "$results"
mode=$(stat -c %a "$results")
for closed in "$here" "$submission" "$results" "${@:3}"; do
  [ -e "$closed" ] || continue
  chmod go= "$closed" || echo "$closed: could not be closed to other users" >&2
done

rm -rf "$results/results.json"
work=$(mktemp -d "$results/.grade-XXXXXX") || exit
trap 'rm -rf "$work"; chmod "$mode" "$results"' EXIT
cp "$here/could_not_grade.json" "$work/results.json"
chmod 644 "$work/results.json"
mv -f "$work/results.json" "$results/results.json"

# An environment from nothing: neither Python nor the grader is set up by what a platform has set.
env -i PATH=/usr/bin:/bin LANG=C.UTF-8 HOME="$work" XDG_CACHE_HOME="$here/cache" \
  ${LD_LIBRARY_PATH:+LD_LIBRARY_PATH="$LD_LIBRARY_PATH"} PYTHONPATH="$here/kit" \
  timeout --kill-after=5 {{ limit }} \
  "$python" -P -m grader {{ kit }} run "$submission" --problem {{ slug }} {{ arguments }} \
  --require-isolation -o "$work/results.json" </dev/null
code=$?

# 0 and 1: graded; 2: nothing to grade, or not this file; 3: a fault of the kit. Each with a result.
if [ "$code" -le 3 ] && [ -s "$work/results.json" ]; then
  mv -f "$work/results.json" "$results/results.json"
else
  echo "the grader gave no result (exit code $code)" >&2
fi
exit 0
