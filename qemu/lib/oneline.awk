# The same from one-line entries (`deb [options] URI SUITE COMPONENT...`).
{
	sub(/\[[^]]*\] */, "")
	if ($3 !~ "^" code "(-updates|-security)?$" || (" " $0 " ") !~ / main /)
		next
	print "Types: deb\nURIs: " $2 "\nSuites: " $3
	print "Components: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
}
