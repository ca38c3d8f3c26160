# shellcheck shell=bash
# The install tree: module, provider, programs and ibctl of this checkout, built
# with the tools of the suite they will run in.
#
# Sources are copied to a build folder of this checkout, suite and kernel, and
# only what differs, so that make sees what has changed. A tree once made is
# never touched again (a running guest has it mounted): a changed one gets a new
# folder, and the old ones go when no guest holds their lock.

# folders copied; whatever of them does not exist (yet) is skipped with a note
readonly BUILD_PARTS='kmod provider tests/verbs'

build_dir() { # SUITE KERNEL
	printf '%s/build/%s-%s-%s-%s\n' "$CACHE" "$(basename "$CHECKOUT")" \
		"$1" "$2" "$(printf '%s\0' "$CHECKOUT" "$EXTRA_MODULES" | hash_stdin)"
}

# build_need SUITE KERNEL: leaves in INST the tree and in INST_LOCK a file
# descriptor that keeps it
build_need() {
	local dir fd
	dir=$(build_dir "$1" "$2")
	mkdir -p "$dir/inst" "$CACHE/lock"
	exec {fd}>"$dir/lock"
	if ! flock -n "$fd"; then
		say "waiting for another build of this checkout"
		flock "$fd"
	fi
	build_tree "$1" "$2" "$dir" || die $EX_BUILD "the build failed"
	INST=$dir/$(readlink "$dir/current")
	exec {INST_LOCK}<"$INST"
	flock -s "$INST_LOCK"
	build_drop_old "$dir"
	exec {fd}>&-
}

build_drop_old() { # DIR
	local old
	for old in "$1"/inst/*/; do
		[[ ${old%/} == "$INST" ]] && continue
		flock -n -x "$old" rm -rf "$old" || :
	done
}

build_tree() { # SUITE KERNEL DIR
	local dir=$3 tools recipe changed tree
	# other tools make everything anew, another recipe only installs it again
	tools=$(printf '%s\n' "$(root_dir "$1")" "$(kernel_dir "$1" "$2")")
	recipe=$(declare -f build_user build_modules build_depmod | hash_stdin)
	if [[ ! -e $dir/src.list || $(cat "$dir/tools" 2>/dev/null) != "$tools" ]]; then
		rm -rf "$dir"/{src,src.list,src.extra-list,current}
	elif [[ $(cat "$dir/recipe" 2>/dev/null) != "$recipe" ]]; then
		rm -f "$dir/current"
	fi
	changed=$(build_copy "$dir/src") || return 1
	build_ibctl "$dir" || return 1
	if [[ -e $dir/current && -z $changed ]] &&
		cmp -s "$dir/ibctl" "$dir/current/usr/local/bin/ibctl"; then
		return 0
	fi
	rm -f "$dir/current"
	rm -rf "$dir/stage"
	mkdir -p "$dir/stage"/usr/{local/bin,lib/modules}
	cp "$dir/ibctl" "$dir/stage/usr/local/bin/ibctl"
	build_user "$1" "$dir" && build_modules "$1" "$2" "$dir" || return 1
	if [[ -e $dir/stage/lib ]]; then
		say "something was installed in /lib, which is a link: use /usr/lib"
		return 1
	fi
	tree=inst/$(date +%s%N)
	mv -T "$dir/stage" "$dir/$tree"
	ln -sfn "$tree" "$dir/current"
	printf '%s\n' "$tools" >"$dir/tools"
	printf '%s\n' "$recipe" >"$dir/recipe"
}

# build_copy DST: copies what differs in content, so that an unchanged file
# keeps its time whatever git did to it; prints what has changed. Only sources
# are copied and only what was copied is ever deleted: what make has made here
# stays, and what somebody made in the checkout does not come along.
build_copy() {
	local part
	for part in $BUILD_PARTS; do
		mkdir -p "$1/$part"
	done
	build_copy_tree "$CHECKOUT" "$1" "$1.list" "$BUILD_PARTS" || return 1
	if [[ $EXTRA_MODULES ]]; then
		mkdir -p "$1/extra"
		build_copy_tree "$EXTRA_MODULES" "$1/extra" "$1.extra-list" . || return 1
	fi
}

build_copy_tree() { # FROM TO LIST PARTS
	local gone
	build_sources "$1" "$4" | LC_ALL=C sort >"$3.new"
	touch "$3"
	while IFS= read -r gone; do
		rm -f "$2/$gone"
		printf 'gone %s\n' "$gone"
	done < <(LC_ALL=C comm -23 "$3" "$3.new")
	# before the copy: should it be interrupted, nothing is forgotten
	cp "$3.new" "$3"
	rsync -lp --checksum --itemize-changes --files-from="$3" "$1/" "$2/"
}

# build_sources DIR PARTS: files that are or could be in the repository
build_sources() {
	local part
	cd "$1" || return
	if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
		# shellcheck disable=SC2086 # PARTS are words
		git ls-files -co --exclude-standard -- $2
	else
		for part in $2; do
			[[ ! -d $part ]] || find "$part" \( -type f -o -type l \) \
				! -name '*.o' ! -name '*.ko' ! -name '.*.cmd' ! -name '*.mod' \
				! -name '*.mod.c' ! -name '*.so' ! -name '*.a'
		done
	fi | while IFS= read -r part; do
		[[ ! -e $part ]] || printf '%s\n' "${part#./}"
	done
}

build_ibctl() { # DIR
	local go
	if [[ ! -d $CHECKOUT/cmd/ibctl ]]; then
		say "note: no cmd/ibctl, skipped"
		: >"$1/ibctl"
		return 0
	fi
	go=$("$CHECKOUT/scripts/go.sh") || return 1
	(cd "$CHECKOUT" && CGO_ENABLED=0 "$go" build -buildvcs=false \
		-o "$1/ibctl" ./cmd/ibctl)
}

build_user() { # SUITE DIR
	local part
	for part in provider tests/verbs; do
		if [[ ! -e $2/src/$part/Makefile ]]; then
			say "note: no $part/Makefile, skipped"
			continue
		fi
		in_root "$(root_dir "$1")" "$2:build" -- make -s -C "/build/src/$part" \
			-j"$(nproc)" DESTDIR=/build/stage install >&2 || return 1
	done
}

# build_modules SUITE KERNEL DIR: the kernels of ours are of bookworm's compiler
build_modules() {
	local kernel kver suite=$1 part
	local -a binds=("$3:build") make=(make -s -j"$(nproc)")
	kernel=$(kernel_dir "$1" "$2")
	kver=$(cat "$kernel/release")
	if [[ $2 == stock ]]; then
		make+=(-C "/lib/modules/$kver/build")
	else
		suite=bookworm
		binds+=("$kernel:kernel")
		make+=(-C /kernel/tree)
		[[ $2 == uml ]] && make+=(ARCH=um)
	fi
	mkdir -p "$3/stage/usr/lib/modules/$kver/updates"
	for part in kmod extra; do
		[[ $part == extra && ! $EXTRA_MODULES ]] && continue
		if [[ ! -e $3/src/$part/Kbuild ]]; then
			say "note: no $part/Kbuild, module skipped"
			continue
		fi
		in_root "$(root_dir "$suite")" "${binds[@]}" -- \
			"${make[@]}" M="/build/src/$part" modules 2>&1 |
			grep -v 'Skipping BTF generation' >&2
		((PIPESTATUS[0] == 0)) || return 1
		find "$3/src/$part" -name '*.ko' -exec cp -t \
			"$3/stage/usr/lib/modules/$kver/updates" {} +
	done
	build_depmod "$1" "$2" "$3" "$kver"
}

# build_depmod SUITE KERNEL DIR KVER: indexes of the kernel's modules and ours;
# the kernel's own folder is linked in only while depmod reads it
build_depmod() {
	local from to=$3/stage/usr/lib/modules/$4
	if [[ $2 == stock ]]; then
		from=$(root_dir "$1")/usr/lib/modules/$4
	else
		from=$(kernel_dir "$1" "$2")/mods/usr/lib/modules/$4
	fi
	ln -s "$from/kernel" "$to/kernel"
	cp "$from"/modules.{order,builtin,builtin.modinfo} "$to/"
	ln -s usr/lib "$3/stage/lib"
	depmod -b "$3/stage" "$4" || return 1
	rm "$to/kernel" "$3/stage/lib"
}
