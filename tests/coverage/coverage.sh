#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# coverage.sh - lines of one source folder that its tests have run, against a floor.
#
# usage: coverage.sh <source folder> <build folder> <folder to judge> <floor in %> <ctest regex>
#
# Deletes the counts of earlier runs, runs the tests, prints a table of files and every
# line that was not run.  Exits with 1 below the floor, with 77 where gcovr is missing.
set -eu
root=$1
build=$2
folder=$3
floor=$4
tests=$5

command -v gcovr >/dev/null || {
	echo "gcovr is missing"
	exit 77
}
find "$build" -name '*.gcda' -delete
ctest --test-dir "$build" -L 'unit|fuzz' -R "$tests" --output-on-failure >"$build/coverage-tests.txt" || {
	cat "$build/coverage-tests.txt"
	exit 1
}
# A child that is killed writes no counts, one that is forked twice may write half: such files are
# left out rather than believed.
exec gcovr --root "$root" --object-directory "$build" --filter "$folder/" \
	--exclude-throw-branches --gcov-ignore-parse-errors --sort-uncovered \
	--fail-under-line "$floor" --txt
