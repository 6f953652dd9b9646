# SPDX-License-Identifier: Apache-2.0
# Sourced by the lint scripts: the tree, its files, and how to skip.
set -euo pipefail
cd "$1"

# Files git knows (or would take); without git, all but what is built.
files() { # PATTERN...
	if git -c safe.directory='*' rev-parse --git-dir >/dev/null 2>&1; then
		git -c safe.directory='*' ls-files --cached --others --exclude-standard -- "$@" |
			while IFS= read -r f; do [[ ! -f $f ]] || printf '%s\n' "$f"; done
	else
		local p
		for p; do
			find . -path ./build -prune -o -type f -path "*${p#\*}" -print | sed 's|^\./||'
		done
	fi
}

need() {
	command -v "$1" >/dev/null && return
	echo "skipped: $1 is not installed"
	exit 77
}
