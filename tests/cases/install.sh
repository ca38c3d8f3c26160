#!/bin/bash
# `make install` on a machine that knows nothing of softhca: this guest, once
# what the lab has put there is gone. The provider is built here; the module, as
# `make build` would, by the lab, since that takes a guest a quarter of an hour.
. "$(dirname "$0")/../lib-verbs.sh"

release=$(uname -r)
ibctl=$(command -v ibctl)
mkdir -p /root/src/kmod
cp -r /softhca/Makefile /softhca/scripts /softhca/provider /root/src
cp -r /softhca/kmod/uapi /root/src/kmod
cd /root/src || fail 'no copy of the tree'
mkdir -p bin out/native/kmod
cp "$(modinfo -n softhca)" out/native/kmod/softhca.ko || fail 'no module'
# of Go there is nothing here
mv "$ibctl" bin/ibctl
find "/lib/modules/$release" -name 'softhca.ko*' -delete
find /usr/lib /etc -name '*softhca*' \( -name '*.so' -o -name '*.driver' \) -delete
depmod "$release"
hash -r
refused modprobe softhca 2>/dev/null
[[ -z $(find / -xdev -name 'libsofthca*' -not -path '/root/*' -not -path '/softhca/*') ]] || fail 'a provider is left'
refused scripts/install 2>/tmp/why
grep -q 'run "make build" first' /tmp/why || fail "the refusal: $(cat /tmp/why)"

run make -s -C provider DESTDIR=/root/src/out/native/provider install
run make -s install
[[ $(modinfo -n softhca) == /lib/modules/$release/updates/softhca.ko ]] || fail "modinfo finds $(modinfo -n softhca)"
[[ $(command -v ibctl) == /usr/local/bin/ibctl ]] || fail "ibctl is $(command -v ibctl)"
grep -q 'ibctl' /usr/local/share/bash-completion/completions/ibctl || fail 'no completion'
[[ -e /usr/local/share/man/man8/ibctl-dev-add.8 ]] || fail 'no manual pages'
ok 'built and installed'

topo 1500
xfer -o WRITE -n 65536 -T $MIB
ok 'and works'
