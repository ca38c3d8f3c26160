#!/bin/bash
# The lab itself: what every other case takes for granted in a guest.
. "$(dirname "$0")/../lib.sh"

run uname -a
[[ $(id -u) == 0 ]] || fail 'not root'
for dir in /dev/shm /run /tmp /sys/kernel/debug /sys/kernel/tracing; do
	mountpoint -q "$dir" || fail "$dir is not mounted"
done
echo 1 >/dev/shm/smoke || fail '/dev/shm is not writable'
[[ $(ulimit -l) == unlimited ]] || fail "locked memory is limited to $(ulimit -l)"
run ping -q -c 1 -W 2 127.0.0.1

run ibv_devices
ibv_devinfo -l || fail 'ibv_devinfo does not run'

topo_netns 9000
run A ping -q -c 1 -W 2 "$IP_B"
run B ping -q -c 1 -W 2 "$IP6_A"
[[ $(A cat /sys/class/net/va/mtu) == 9000 ]] || fail 'the MTU was not set'
[[ $(gid_of fd00::12) == fd00:0000:0000:0000:0000:0000:0000:0012 ]] || fail gid_of
[[ $(gid_of 10.0.0.1) == 0000:0000:0000:0000:0000:ffff:0a00:0001 ]] || fail gid_of
run A tc qdisc add dev va root netem delay 1ms
run A iptables -A INPUT -p udp --dport 4791 -m u32 --u32 '28>>24=0x12' \
	-m statistic --mode random --probability 0.1 -j DROP
ok 'namespaces, netem and iptables work'
