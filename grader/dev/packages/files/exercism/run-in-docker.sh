#!/usr/bin/env bash
# run-in-docker.sh SLUG SOLUTION_DIR OUTPUT_DIR
#
# Builds the image and runs it as Exercism does: without a network, on a file system that can only be
# read, but for OUTPUT_DIR and /tmp.
set -euo pipefail

if [ $# -ne 3 ]; then
  echo "usage: run-in-docker.sh SLUG SOLUTION_DIR OUTPUT_DIR" >&2
  exit 2
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$3"
solution=$(cd "$2" && pwd) output=$(cd "$3" && pwd)

docker build --tag {{ image }} "$root"
docker run --rm --network none --read-only \
  --mount type=bind,src="$solution",dst=/solution,readonly \
  --mount type=bind,src="$output",dst=/output \
  --mount type=tmpfs,dst=/tmp \
  {{ image }} "$1" /solution/ /output/
