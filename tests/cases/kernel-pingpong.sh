#!/bin/bash
# Kernel queue pairs that answer from their completion handlers.
. "$(dirname "$0")/../lib-verbs.sh"

n=$(by_kernel 10000 4000 1000)

# game ARGUMENT...: insmod returns when it is over
game() {
	modprobe shca_pingpong dev="$DEV_A" "$@" messages="$n" timeout_s=60 || {
		dmesg | grep shca_pingpong: | tail -3
		fail "shca_pingpong $*"
	}
	cat /sys/module/shca_pingpong/parameters/result
	run modprobe -r shca_pingpong
}

topo 1500
modinfo shca_pingpong >/dev/null || fail 'shca_pingpong was not built'
game peer="$DEV_B"
game peer="$DEV_B" balls=32
game peer="$DEV_B" balls=8 size=16384
game
game balls=32
game self=1
game self=1 balls=32
ok 'over the wire, on one device, with itself'

# while it runs the device goes away under it, over and over: it has to meet
# the runners at every point of a turn
rounds=$(by_kernel 1 4 1)
for ((i = 0; i < 2 * rounds; i++)); do
	((i % 2)) && victim=$DEV_B other=$DEV_A || victim=$DEV_A other=$DEV_B
	run modprobe shca_pingpong dev="$DEV_A" peer="$DEV_B" messages=0 balls=16
	sleep 0.3
	run ibctl dev del "$victim"
	grep '^ok: [1-9]' /sys/module/shca_pingpong/parameters/result ||
		fail "result: $(cat /sys/module/shca_pingpong/parameters/result)"
	run modprobe -r shca_pingpong
	run ibctl dev del "$other"
	dev_up
done
ok 'device removed under it'
