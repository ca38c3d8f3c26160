#!/bin/bash
# Subnet managers come and go, and a cable: two of them on one subnet hand over to
# each other by priority, in death and in good order. RC and IPoIB go on, LIDs
# stay, and ibv_asyncwatch sees each event.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib-ib.sh"

star 3

stdbuf -oL ibv_asyncwatch -d shca2 >/tmp/events 2>&1 &
wait_until 10 grep -q 'async event' /tmp/events || fail "ibv_asyncwatch: $(cat /tmp/events)"

# seen EVENT: since forget
forget() { SEEN=$(wc -l </tmp/events); }
seen() { tail -n "+$((SEEN + 1))" /tmp/events | grep -q "IBV_EVENT_$1 "; }
want() { # EVENT...
	local event
	for event; do
		wait_until 20 seen "$event" && continue
		cat /tmp/events
		osm_log
		fail "no IBV_EVENT_$event"
	done
	ok "ibv_asyncwatch has seen $*"
}

# Both watch each other by the second; 1 before 0 shows that priority decides.
for i in 0 1; do
	mkdir -p "$OSM_DIR/shca$i"
	cat >"$OSM_DIR/shca$i/conf" <<-END
		sminfo_polling_timeout 1000
		polling_retry_number 2
		sweep_interval 2
		partition_config_file $OSM_DIR/partitions
		sm_priority $((9 - i))
	END
done
echo 'Default=0x7fff,ipoib:ALL=full;' >"$OSM_DIR/partitions"
sm() { osm_start "shca$1" -F "$OSM_DIR/shca$1/conf"; }

forget
sm 1
active shca0 shca1 shca2
want LID_CHANGE SM_CHANGE CLIENT_REREGISTER PORT_ACTIVE
LIDS="$(lid_of shca0) $(lid_of shca1) $(lid_of shca2)"
read -ra LID <<<"$LIDS"

# sm_is LID STATE, master N: which of the subnet managers is what
sm_is() { timeout 5 sminfo -C shca2 -P 1 "$1" 2>/dev/null | grep -q "SMINFO_$2"; }
master() { timeout 5 sminfo -C shca2 -P 1 2>/dev/null | grep -q "sm lid ${LID[$1]} .*SMINFO_MASTER"; }
become() { # N SECONDS WHY
	wait_until "$2" master "$1" && return
	on shca2 sminfo
	osm_log
	fail "$3"
}
lids_same() {
	[[ "$(lid_of shca0) $(lid_of shca1) $(lid_of shca2)" == "$LIDS" ]] || fail "LIDs were $LIDS"
}

# Traffic for all of the rest: RC between shca1 and shca2, patient enough for a
# pulled cable, and a ping between two namespaces.
run modprobe ib_ipoib
run ip netns add B
run ip link set ib2 netns B
run ip addr add 10.9.0.1/24 dev ib1
run ip -n B addr add 10.9.0.2/24 dev ib2
run ip link set ib1 up
run ip -n B link set ib2 up
answers() { ping -c 1 -W 1 10.9.0.2 >/dev/null; }
wait_until 30 answers || fail 'no IPoIB'
timeout 200 ib_write_bw -F -u 20 -s 4096 --run_infinitely -d shca1 >/tmp/server 2>&1 &
wait_until 20 listening 18515 || fail 'ib_write_bw does not listen'
timeout 200 ib_write_bw -F -u 20 -s 4096 --run_infinitely -d shca2 127.0.0.1 >/tmp/client 2>&1 &
RC=$!
moved() { (($(counter shca1 rx_packets) > $1)); }
goes_on() { # WHAT
	wait_until 60 moved "$(($(counter shca1 rx_packets) + 200))" || {
		cat /tmp/client
		ibctl qp list
		fail "RC does not go on: $1"
	}
	kill -0 $RC 2>/dev/null || fail "RC has ended: $(cat /tmp/client)"
	wait_until 30 answers || fail "IPoIB does not go on: $1"
	lids_same
	ok "$1: RC and IPoIB go on, LIDs are the same"
}
goes_on 'at first'

forget
sm 0
become 0 40 'a subnet manager of higher priority does not become master'
wait_until 20 sm_is "${LID[1]}" STANDBY || fail 'the other one is not standby'
want SM_CHANGE
goes_on 'another subnet manager, of higher priority, has taken over'

forget
osm_stop shca0 KILL
goes_on 'without a master'
become 1 40 'the standby does not take over from the dead'
want SM_CHANGE CLIENT_REREGISTER
goes_on 'the standby has taken over from the dead'

sm 0
become 0 40 'mastership is not handed back'
wait_until 20 sm_is "${LID[1]}" STANDBY || fail 'the other one is not standby again'
goes_on 'mastership was handed back'

forget
osm_stop shca1
osm_stop shca0
sm 0
become 0 40 'no subnet manager after a restart'
want CLIENT_REREGISTER
goes_on 'the only subnet manager was restarted'

forget
run ibctl cable del sw0/3
want PORT_ERR
port_is shca2 DOWN || fail 'the cable is out and the port is not down'
answers && fail 'a ping without a cable'
run ibctl cable add sw0/3 shca2/1
active shca2
want PORT_ACTIVE
goes_on 'a cable was out'

forget
echo 'Default=0x7fff,ipoib:ALL=full; Lab=0x1:ALL=full;' >"$OSM_DIR/partitions"
osm_sweep shca0
want PKEY_CHANGE
grep -qx 0x8001 /sys/class/infiniband/shca2/ports/1/pkeys/* || fail 'P_Key 0x8001 is not in the table'
goes_on 'another partition'

kill $RC
run ip netns del B
run modprobe -r ib_ipoib
osm_stop shca0 KILL
