# awk -v total=BYTES -f frags.awk PFNS FRAGS
#
# PFNS: page frames of the sender's buffer (vt_xfer -P). FRAGS: what frags.bt
# printed. Fragments that lie in those pages must make up the whole payload;
# others may be headers only.
FNR == NR { own[$1] = 1; next }
/^@skbs:/ { skbs = $2 }
/^@linear:/ { linear = $2 }
/^@frag\[/ {
	gsub(/[^0-9]+/, " ")
	pfn = $1; off = $2; len = $3; count = $4
	# a fragment may run over several page frames
	while (len > 0) {
		pfn += int(off / 4096)
		off %= 4096
		n = len < 4096 - off ? len : 4096 - off
		if (pfn in own)
			mine += n * count
		else {
			foreign += n * count
			if (n > 256)
				large += n * count
		}
		off += n
		len -= n
	}
}
END {
	printf "packets to the device: %d, bytes outside of fragments: %d\n", skbs, linear
	printf "in fragments: %.0f bytes of the buffer, %.0f of other pages\n", mine, foreign
	if (mine != total) {
		printf "FAIL: %.0f bytes were sent from the buffer\n", total
		bad = 1
	}
	if (large) {
		printf "FAIL: %.0f bytes of other pages are no headers\n", large
		bad = 1
	}
	if (linear > skbs * 256) {
		print "FAIL: there is more than headers outside of fragments"
		bad = 1
	}
	exit bad
}
