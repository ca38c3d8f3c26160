#!/bin/bash
# Two switches and four adapters: OpenSM routes, and packets find their way by
# directed route, by LID and to groups; a switch and a trunk that go are got over.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib-ib.sh"

DEVS=(shca0 shca1 shca2 shca3)
run ibctl switch add sw0 ports 4
run ibctl switch add sw1 ports 4 guid 1253:4843:0100:0002
for i in 0 1 2 3; do
	run ibctl dev add "shca$i" link ib
	run ibctl cable add "shca$i/1" "sw$((i / 2))/$((i % 2 + 1))"
done
run ibctl cable add sw0/4 sw1/4
run ibctl cable list

# taken GUID OWNER: neither switch nor device gets it
taken() {
	local node
	for node in 'switch add other ports 1' 'dev add other link ib'; do
		# shellcheck disable=SC2086 # words
		refused ibctl $node guid "$1" 2>/tmp/err
		grep -q "the GUID is that of $2 already" /tmp/err || fail "$node: $(cat /tmp/err)"
	done
}
taken 1253:4843:0100:0002 sw1
taken "$(port_guid shca0)" shca0
ok 'no two nodes have one GUID'

osm_start shca0 --sweep 1
soon "${DEVS[@]}"
run ibctl switch show sw0
ok 'OpenSM brings four adapters behind two switches to ACTIVE'

[[ $(on shca3 ibnetdiscover | grep -c ^Switch) == 2 ]] || fail 'ibnetdiscover does not see two switches'
on shca3 sminfo || fail 'sminfo across two switches'
for dev in "${DEVS[@]}"; do
	on shca3 smpquery nodeinfo "$(lid_of "$dev")" >/dev/null || fail "smpquery of $dev"
	on shca0 smpquery nodeinfo "$(lid_of "$dev")" >/dev/null || fail "smpquery of $dev"
done
run timeout 20 ibtracert -C shca0 "$(lid_of shca0)" "$(lid_of shca3)"
# What ports discarded before they were ACTIVE is no error of the fabric's.
timeout 60 ibqueryerrors -C shca0 -k >/dev/null 2>&1
on shca3 ibnetdiscover >/dev/null || fail 'ibnetdiscover'
run timeout 60 ibqueryerrors -C shca0
ok 'ibnetdiscover, sminfo, smpquery, ibtracert and ibqueryerrors'

SW1=$(ibctl -j switch show sw1 | jq .lid)
n=$(on shca0 perfquery -x "$SW1" 4 | sed -n 's/^PortRcvPkts:\.*//p')
((n > 10)) || fail "the trunk has received '$n' packets"
on shca0 perfquery -a "$SW1" >/dev/null || fail 'perfquery of all ports'
ok 'counters of a switch'

on shca0 ibportstate "$SW1" 1 disable || fail 'ibportstate disable'
wait_until 10 port_is shca2 DOWN || fail 'a disabled port of a switch is up'
on shca0 ibportstate "$SW1" 1 enable || fail 'ibportstate enable'
active shca2
ok 'a port of a switch is disabled and enabled'

# A link that changes while OpenSM sweeps for the change before must not be
# cleared with that one: the port would stay INIT.
for i in {1..15}; do
	run ibctl cable del shca3/1
	sleep "0.$((RANDOM % 5))"
	run ibctl cable add shca3/1 sw1/2
	if ((i % 5)); then sleep "0.$((RANDOM % 10))"; else active shca3; fi
done
ok 'a cable that is out and in again, fifteen times'

run ibctl cable del sw0/4
wait_until 5 eval '[[ $(ibctl -j switch show sw1 | jq -r .ports[3].state) == down ]]' ||
	fail 'the trunk is out and its port is not down'
run ibctl cable add sw0/3 sw1/3
wait_until 60 eval 'on shca3 sminfo >/dev/null 2>&1' || {
	osm_log
	fail 'no way over another trunk'
}
ok 'another trunk'

run ibctl switch del sw1
wait_until 5 ports_are DOWN shca2 shca3 || fail 'the switch is gone and the ports behind it are not down'
active shca0 shca1
osm_stop shca0 KILL

# The answer of a switch is a packet of its own: it may be 63 cables away.
LENGTH=40
path=0,1
{
	printf 'devices: {shca9: }\nswitches:\n'
	printf '  far%d: {ports: 2}\n' $(seq $LENGTH)
	printf 'cables:\n  - [shca9, far1/1]\n'
	for ((i = 2; i <= LENGTH; i++)); do
		echo "  - [far$((i - 1))/2, far$i/1]"
		path+=,2
	done
} >/tmp/row.yaml
run ibctl fabric apply /tmp/row.yaml
wait_until 20 eval 'on shca9 smpquery -D nodeinfo "$path" >/dev/null 2>&1' ||
	fail "the switch at the end of $LENGTH cables does not answer"
ok "a row of $LENGTH switches"
run ibctl fabric delete /tmp/row.yaml

# OpenSM does not sweep of its own accord, so each port depends on a trap; and
# it ignores those of one switch and kind from the eleventh on.
{
	printf 'switches: {big: {ports: 17}}\ndevices:\n'
	printf '  shca%d:\n' {20..36}
	printf 'cables:\n  - [shca20, big/1]\n'
} >/tmp/big.yaml
run ibctl fabric apply /tmp/big.yaml
osm_start shca20 --sweep 0
active shca20
for i in 21 25 29 33; do
	four=()
	for ((j = i; j < i + 4; j++)); do
		four+=("shca$j")
		echo "  - [shca$j, big/$((j - 19))]" >>/tmp/big.yaml
	done
	run ibctl fabric apply /tmp/big.yaml
	active "${four[@]}"
done
ok 'sixteen ports that come up four at a time, by traps alone'
osm_stop shca20 KILL
