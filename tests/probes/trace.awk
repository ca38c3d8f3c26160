# awk -f trace.awk TRACE: what events of softhca add up to, one `KEY VALUE` a line:
#
#	EVENT.DEVICE N                 events
#	EVENT.DEVICE.FIELD SUM         of a field that is a number
#	EVENT.DEVICE.FIELD=WORD N      events whose field is that word
#	EVENT.DEVICE.messages N        different (qpn, index)
{
	for (i = 1; i < NF; i++)
		if ($(i + 1) ~ /^dev=/)
			break
	if (i == NF)
		next
	event = $i
	sub(/:$/, "", event)
	dev = substr($(i + 1), 5)
	at = event "." dev
	n[at]++
	qpn = ""
	for (i += 2; i <= NF; i++) {
		eq = index($i, "=")
		if (!eq) {
			# a word without a name: ACK, NAK, RNR
			n[at "." $i]++
			continue
		}
		name = substr($i, 1, eq - 1)
		value = substr($i, eq + 1)
		if (name == "qpn")
			qpn = value
		else if (name == "index" && !seen[at, qpn, value]++)
			n[at ".messages"]++
		if (value ~ /^[0-9]+$/)
			n[at "." name] += value
		n[at "." name "=" value]++
	}
}
END {
	for (k in n)
		printf "%s %.0f\n", k, n[k]
}
