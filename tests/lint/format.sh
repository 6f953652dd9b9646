#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-format would change nothing.  usage: format.sh ROOT
. "$(dirname "$0")/common.sh"
tool=clang-format
command -v clang-format-14 >/dev/null && tool=clang-format-14
need $tool
files '*.c' '*.h' | xargs -r -n 40 $tool --dry-run --Werror
