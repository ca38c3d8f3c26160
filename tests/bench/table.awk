# The bench's table. Bandwidths in MB (2^20) per 1e9 instructions, latency in
# microseconds at 1e9 instructions a second; a ratio above 1 is good for softhca.
/^BENCH/ {
	key = $2 "\t" $3 "\t" $4 "\t" $5
	if ($6 == "tcp") {
		tcp[$4, $2] = $7
		next
	}
	if ($6 == "memcpy") {
		memcpy[$3] = $7
		next
	}
	if (!(key in seen)) {
		seen[key] = 1
		order[++n] = key
	}
	value[key, $6] = $7
	packets[key, $6] = $9
}

function ratio(a, b) { return a > 0 && b > 0 ? sprintf("%.2f", a / b) : "-" }

END {
	printf "\n%-10s %8s %5s %-5s %10s %10s %8s %8s %8s %9s %9s\n", "what", "size",
		"MTU", "path", "softhca", "rxe", "/ rxe", "/ TCP", "/ memcpy",
		"packets", "rxe's"
	for (i = 1; i <= n; i++) {
		k = order[i]
		split(k, f, "\t")
		ours = value[k, "softhca"]
		theirs = value[k, "rxe"]
		lat = f[1] ~ /_lat$/
		printf "%-10s %8d %5d %-5s %10.2f %10.2f %8s %8s %8s %9d %9d\n", f[1],
			f[2], f[3], f[4], ours, theirs,
			lat ? ratio(theirs, ours) : ratio(ours, theirs),
			lat ? "-" : ratio(ours, tcp[f[3], "tcp_bw"]),
			lat ? "-" : ratio(ours, memcpy[f[2]]),
			packets[k, "softhca"], packets[k, "rxe"]
	}
	printf "\nTCP (iperf3, 64 KiB writes): "
	for (k in tcp) {
		split(k, f, SUBSEP)
		printf "%s at MTU %s %.1f  ", f[2], f[1], tcp[k]
	}
	printf "\nmemcpy: "
	for (k in memcpy)
		printf "%d bytes %.0f  ", k, memcpy[k]
	print "\n"
}
