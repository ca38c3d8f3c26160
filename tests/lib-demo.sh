# shellcheck shell=bash
# Sourced by the demos: how they print, and how they fail.
set -u
export LC_ALL=C
# shellcheck disable=SC2034 # for the demos
[[ -t 1 ]] && bold=$'\e[1m' plain=$'\e[0m' || bold='' plain=''

step() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }

# more: what a demo has to show of itself when it fails; may be defined anew
more() { :; }

failed() {
	printf '\nThe demo has failed: %s\n' "$*"
	more
	dmesg | tail -n 20
	exit 1
}

wait_for() { # SECONDS COMMAND...
	local i tries=$(($1 * 10)) seconds=$1
	shift
	for ((i = 0; i < tries; i++)); do
		"$@" && return 0
		sleep 0.1
	done
	failed "\"$*\" did not come true in $seconds s"
}
