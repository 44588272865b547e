#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image that every submission is graded in.
#
# It makes an environment of its own in /opt/kit, which every user can read: not in the image's own
# Python, on which Gradescope itself runs. KIT_PYTHON names one that is there already; nothing is
# installed then. KIT_TORCH_INDEX is where the CPU build of PyTorch is found.
set -euo pipefail
umask 022

source=${KIT_AUTOGRADER:-/autograder}/source
index=${KIT_TORCH_INDEX-https://download.pytorch.org/whl/cpu}

newest() { # the newest Python here that the grader runs on and that can make an environment
  local name
  for name in python3.14 python3.13 python3.12 python3.11 python3; do
    if "$name" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$name"
      return
    fi
  done
  return 1
}

if [ -z "${KIT_PYTHON:-}" ]; then
  if ! newest >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update
    apt-get install -y --no-install-recommends python3-venv
    # Ubuntu 22.04 has Python 3.11 beside its own 3.10.
    newest >/dev/null || apt-get install -y --no-install-recommends python3.11-venv
  fi
  python=$(newest) || { echo "no Python 3.11 or newer here: choose another base image" >&2; exit 1; }
  "$python" -m venv /opt/kit
  /opt/kit/bin/pip install --no-cache-dir ${index:+--extra-index-url "$index"} \
    -c "$source/constraints.txt" -r "$source/requirements.txt"
  KIT_PYTHON=/opt/kit/bin/python
fi
export KIT_PYTHON

# A trial: the reference has to have all points here, too.
trial=$(mktemp -d)
trap 'rm -rf "$trial"' EXIT
mkdir "$trial/submission"
cp "$source/kit/solutions/{{ slug }}/{{ reference }}" "$trial/submission/{{ slug }}.py"
bash "$source/grade.sh" "$trial/submission" "$trial/results"
"$KIT_PYTHON" -I - "$trial/results/results.json" <<'END'
import json, sys

with open(sys.argv[1], encoding="utf-8") as file:
    result = json.load(file)
if result["score"] >= {{ points }}:
    print("The reference has all {{ points }} points here.")
else:
    print("ATTENTION: the reference has", result["score"], "of {{ points }} points while this image was built;")
    print("see above for why, and grade a file with 'Test Autograder' before anybody hands one in.")
END
