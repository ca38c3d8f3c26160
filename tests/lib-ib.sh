# shellcheck shell=bash
# Sourced by cases with a native InfiniBand fabric, after lib.sh.
#
# Subnet managers and tools are the distribution's; they are told which device
# is theirs, and none may wait for ever.

OSM_DIR=/tmp/opensm
rm -rf "$OSM_DIR" # what an earlier case of this boot has told its subnet managers

# star N [FIRST]: switch sw0 of 4 ports, and shca0 to shcaN-1 on its ports from
# FIRST (1) on
star() {
	local i
	run ibctl switch add sw0 ports 4
	for ((i = 0; i < $1; i++)); do
		run ibctl dev add "shca$i" link ib
		run ibctl cable add "shca$i/1" "sw0/$((i + ${2:-1}))"
	done
}

# back_to_back: shca0 and shca1 on one cable, and a subnet manager on shca0
back_to_back() {
	run ibctl fabric apply "$(dirname "${BASH_SOURCE[0]}")/../docs/fabrics/back-to-back.yaml"
	osm_start shca0 --sweep 2
	active shca0 shca1
}

# osm_start DEVICE [OPTION...]: a subnet manager on a device's port
osm_start() {
	local dev=$1 dir=$OSM_DIR/$1
	shift
	mkdir -p "$dir"
	modprobe -qa ib_umad
	OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir opensm -g "$(port_guid "$dev")" \
		-f "$dir/log" "$@" >"$dir/out" 2>&1 &
	echo $! >"$dir/pid"
}

osm_pid() { cat "$OSM_DIR/$1/pid"; }

# osm_sweep DEVICE: have its subnet manager look at everything again, now
osm_sweep() { kill -HUP "$(osm_pid "$1")"; }

# osm_stop DEVICE [SIGNAL]
osm_stop() {
	kill "-${2:-TERM}" "$(osm_pid "$1")"
	wait "$(osm_pid "$1")" 2>/dev/null
	return 0 # whatever it ended with
}

# port_guid DEVICE: as opensm wants it
port_guid() {
	local gid
	gid=$(cat "/sys/class/infiniband/$1/ports/1/gids/0") || return
	gid=${gid#*:*:*:*:}
	printf '0x%s\n' "${gid//:/}"
}

# ports_are STATE DEVICE...
ports_are() {
	local state=$1 dev
	shift
	for dev; do
		port_is "$dev" "$state" || return 1
	done
}

lid_of() {
	local lid
	read -r lid <"/sys/class/infiniband/$1/ports/1/lid" && printf '%d\n' "$lid"
}

# on DEVICE COMMAND...: a tool of infiniband-diags on that device, 20 s at most
on() {
	local dev=$1 cmd=$2
	shift 2
	timeout 20 "$cmd" -C "$dev" -P 1 "$@"
}

# pings WHERE N [OPTION...] ADDRESS: each of N is answered, with what was sent.
# WHERE is A, B or command (here). With -q ping would not look at the contents.
pings() {
	local where=$1 n=$2
	shift 2
	"$where" ping -n -c "$n" -i 0.01 -W 5 -p c5a3 "$@" >/tmp/ping 2>&1
	grep -q "^$n packets transmitted, $n received, 0% packet loss" /tmp/ping ||
		fail "ping $*: $(cat /tmp/ping)"
	! grep -q 'wrong data' /tmp/ping || fail "ping $*: $(cat /tmp/ping)"
}

osm_log() { tail -n 40 "$OSM_DIR"/*/log; }

# soon DEVICE...: as active, of a subnet manager that was started just now, and within
# 10 s, unless the kernel is a slow one
soon() {
	local begin=$SECONDS took
	active "$@"
	took=$((SECONDS - begin))
	((took < $(by_kernel 10 10 30))) || fail "it took $took s until all were active"
}

# active DEVICE...: wait until subnet managers have brought these ports up
active() {
	wait_until 60 ports_are ACTIVE "$@" && return
	osm_log
	head /sys/class/infiniband/*/ports/1/state
	fail "not all active: $*"
}
