# shellcheck shell=bash
# The one list of what fails a run, whatever COMMAND returned. Used by the host
# on a guest's kernel log and by tests/guest after every case.

# extended regular expressions, one a line
readonly VERDICT_LIST='WARNING: 
BUG: 
kernel BUG at
Oops
Kernel panic
general protection fault
Internal error
KASAN:
UBSAN:
ODEBUG:
(list|slab).* corruption
refcount_t:
possible recursive locking
circular locking
inconsistent (lock state|\{.*\} usage)
lock order( inversion)? detected
suspicious RCU usage
(bad unlock balance|held lock freed|lock held when returning)
non-static key
sleeping function called
scheduling while atomic
INFO: task .* blocked for more
INFO: rcu.*stall
(soft|hard) (lockup|LOCKUP)
workqueue lockup
waiting for .* to become free
leaked reference
new suspected memory leaks
UML: .*[Ss]ignal'

# What a healthy kernel says of itself in the same words
readonly VERDICT_HARMLESS='Spectre V2 : WARNING: Unprivileged eBPF is enabled'

# verdict_lines FILE...: lines of the log that fail a run, none when it is clean
verdict_lines() {
	cat -- "$@" 2>/dev/null | verdict_forgive |
		grep -aE -- "$VERDICT_LIST" | grep -avE -- "$VERDICT_HARMLESS"
}

# verdict_forgive: drops one report of UML's own. Before any module is loaded
# lockdep sees a suspicious RCU usage there, always with the same stack.
verdict_forgive() { cat; }

# verdict_excerpt FILE...: the first report with what follows it
verdict_excerpt() {
	local file
	for file; do
		[[ -n $(verdict_lines "$file") ]] || continue
		verdict_forgive <"$file" |
			grep -aE -m 3 -A 40 -- "$VERDICT_LIST" | head -n 80
		return
	done
}
