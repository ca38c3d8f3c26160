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
Kernel memory leak detector disabled
UML: .*[Ss]ignal'

# What a healthy kernel says of itself in the same words
readonly VERDICT_HARMLESS='Spectre V2 : WARNING: Unprivileged eBPF is enabled'

# verdict_lines FILE...: lines of the log that fail a run, none when it is clean
verdict_lines() {
	cat -- "$@" 2>/dev/null | verdict_forgive |
		grep -aE -- "$VERDICT_LIST" | grep -avE -- "$VERDICT_HARMLESS"
}

# verdict_forgive: drops reports of UML's own. Its first forks walk an address
# space without a lock, in fork_handler() and force_flush_all(), which lockdep
# reports once for each place in lib/maple_tree.c. Only a report with all three
# names in it goes.
verdict_forgive() {
	awk '
	function flush() {
		if (!(held ~ /maple_tree\.c:[0-9]+ suspicious/ &&
		      held ~ /force_flush_all/ && held ~ /fork_handler/))
			printf "%s", held
		held = ""
	}
	/WARNING: suspicious RCU usage/ { flush(); holding = 1; frames = 0 }
	holding {
		# a report ends where its call trace does
		if (frames && !/<[0-9a-f]+>/) { flush(); holding = 0 }
		else {
			if (/Call Trace:/) frames = 1
			held = held $0 "\n"
			next
		}
	}
	{ print }
	END { flush() }'
}

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
