# Paragraphs of a deb822 sources file that are Debian's own for release `code`,
# reduced to what a root needs. One paragraph in, one out.
function field(name, text,   lines, n, i) {
	n = split(text, lines, "\n")
	for (i = 1; i <= n; i++)
		if (tolower(lines[i]) ~ "^" tolower(name) ":")
			return substr(lines[i], index(lines[i], ":") + 2)
	return ""
}
BEGIN { RS = "" }
{
	suites = ""
	n = split(field("Suites", $0), words, " ")
	for (i = 1; i <= n; i++)
		if (words[i] ~ "^" code "(-updates|-security)?$")
			suites = suites " " words[i]
	if (suites == "" || field("Enabled", $0) ~ /^no/)
		next
	if ((" " field("Types", $0) " ") !~ / deb / ||
	    (" " field("Components", $0) " ") !~ / main /)
		next
	print "Types: deb\nURIs: " field("URIs", $0) "\nSuites:" suites
	print "Components: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
}
