#!/usr/bin/env bash
# Prepares, trains, evaluates; what is to be trained with comes by the environment and as arguments.
set -euo pipefail
workers=1
while getopts "w:" flag; do
  case $flag in
    w) workers=$OPTARG ;;
    *) exit 2 ;;
  esac
done
cd "$(dirname "$0")"
model=$(mktemp)
trap 'rm -f "$model"' EXIT
python train.py "$LEARNING_RATE" "$workers" > "$model"
awk '{ printf "\033[1mtest\033[0m score: %.3f\n", 10 * $1 }' "$model"
