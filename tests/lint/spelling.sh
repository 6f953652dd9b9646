#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No word that codespell knows to be wrong.  usage: spelling.sh ROOT
# words.txt holds words that are right here.  Tests misspell on purpose, so most are left out.
. "$(dirname "$0")/common.sh"
need codespell
files '*' | grep -v -E '\.(png|bin|xml)$|^LICENSE$|^tests/(unit|golden|integration)/' |
	xargs -r -d '\n' codespell --ignore-words tests/lint/words.txt
