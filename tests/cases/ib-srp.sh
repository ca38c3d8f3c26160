#!/bin/bash
# SCSI over RDMA: ib_srp logs in to ib_srpt over native InfiniBand, and what is
# written to the disk is what is read from it, and is what is in the target's file.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib-ib.sh"

MIB=16
back_to_back
for m in target_core_mod target_core_file ib_srpt ib_srp sd_mod; do
	run modprobe $m
done
mountpoint -q /sys/kernel/config || run mount -t configfs none /sys/kernel/config

gid=$(cat /sys/class/infiniband/shca0/ports/1/gids/0)
gid=${gid//:/}
service=$(cat /sys/module/ib_srpt/parameters/srpt_service_guid)
service=$(printf '%016x' "$service")

target=/sys/kernel/config/target
disk=$target/core/fileio_0/disk
tpg=$target/srpt/0x$gid/0x$gid
run mkdir -p "$disk"
echo "fd_dev_name=/tmp/disk,fd_dev_size=$((MIB << 20))" >"$disk/control" || fail 'no file of the target'
echo 1 >"$disk/enable" || fail 'the disk cannot be enabled'
run mkdir -p "$tpg/lun/lun_0"
run ln -s "$disk" "$tpg/lun/lun_0/disk"
acl=$tpg/acls/0x0000000000000000$(port_guid shca1 | cut -c3-)
run mkdir -p "$acl/lun_0"
run ln -s "$tpg/lun/lun_0" "$acl/lun_0/disk"
echo 1 >"$tpg/enable" || fail 'the target cannot be enabled'
ok 'a target on shca0'

blocks() { compgen -G '/sys/block/sd*'; }
[[ -z $(blocks) ]] || fail 'there is a SCSI disk already'
echo "id_ext=$service,ioc_guid=$service,dgid=$gid,pkey=ffff,service_id=$service" \
	>/sys/class/infiniband_srp/srp-shca1-1/add_target || fail 'the login is refused'
wait_until 30 blocks >/dev/null || fail 'no disk after the login'
DISK=$(blocks)
DISK=/dev/${DISK##*/}
wait_until 10 test -b "$DISK" || fail "no $DISK"
[[ $(blockdev --getsize64 "$DISK") == $((MIB << 20)) ]] || fail "the disk has $(blockdev --getsize64 "$DISK") bytes"
ls /sys/class/srp_remote_ports/port-* >/dev/null || fail 'no remote port'
ok "logged in from shca1: $DISK"

read0=$(counter shca1 rx_packets)
head -c $((MIB << 20)) /dev/urandom >/tmp/data
for bs in 4k 64k 1M; do
	run dd if=/tmp/data of="$DISK" bs=$bs oflag=direct status=none
	run dd if="$DISK" of=/tmp/back bs=$bs iflag=direct status=none
	run cmp /tmp/data /tmp/back
	head -c $((MIB << 20)) /dev/urandom >/tmp/next
	mv /tmp/next /tmp/data
	ok "$MIB MiB written and read in blocks of $bs"
done
sync
run cmp /tmp/back /tmp/disk # the last that was written
(($(counter shca1 rx_packets) - read0 > 3 * MIB * 256)) || fail 'it did not go over the cable'

# The disk goes while it is in use; whoever uses it gets an error.
dd if=/dev/zero of="$DISK" bs=64k oflag=direct status=none 2>/dev/null &
user=$!
echo 1 >"$(echo /sys/class/srp_remote_ports/port-*)/delete" || fail 'no logout'
wait_until 20 eval '[[ -z $(blocks) ]]' || fail 'the disk outlives the logout'
wait $user
ok 'logged out under I/O'

echo 0 >"$tpg/enable"
run rm "$acl/lun_0/disk" "$tpg/lun/lun_0/disk"
run rmdir "$acl/lun_0" "$acl" "$tpg/lun/lun_0" "$tpg" "${tpg%/*}" "$target/srpt" "$disk" "${disk%/*}"
run modprobe -r ib_srp
run modprobe -r ib_srpt
osm_stop shca0 KILL
