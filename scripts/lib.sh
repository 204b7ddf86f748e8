# What the scripts share: where the tree is, packages, messages. Sourced.
# shellcheck shell=bash
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() {
	printf '\n== %s\n' "$*"
}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 2
}

as_root() {
	if ((EUID == 0)); then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else
		die "not root and no sudo: install these packages first: ${*: -1}"
	fi
}

# Debian's clang-22 is in the release's security suite. A system without that gets it for these
# packages alone: sources of our own beside the system's, whose configuration stays as it is.
security_sources() {
	local dir=$1 codename uri
	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	uri=$(apt-get update --print-uris 2>/dev/null |
		sed -n "s,^'\(.*\)/dists/$codename/InRelease'.*,\1,p" | head -n 1)
	[[ -n $uri ]] || return 1
	cp /etc/apt/sources.list.d/* "$dir/" 2>/dev/null || true
	echo "deb $uri-security $codename-security main" >"$dir/rocmcheck-security.list"
}

# install ROLE...: the Debian packages of these roles in scripts/packages that are not there yet.
install() {
	local role name missing=() extra=() sources
	while read -r role name; do
		[[ " $* " == *" $role "* ]] || continue
		[[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] ||
			missing+=("$name")
	done < <(grep -v '^#' "$top/scripts/packages")
	((${#missing[@]})) || return 0
	say "installing ${#missing[@]} packages: ${missing[*]}"
	as_root apt-get update -qq || die "cannot update the package lists"
	if ! apt-get install -s --no-install-recommends "${missing[@]}" >/dev/null 2>&1; then
		sources=$(mktemp -d)
		security_sources "$sources" || die "cannot find: ${missing[*]}"
		chmod 755 "$sources"
		extra=(-o "Dir::Etc::sourceparts=$sources")
		as_root apt-get "${extra[@]}" update -qq || die "cannot update the package lists"
	fi
	as_root env DEBIAN_FRONTEND=noninteractive apt-get "${extra[@]}" install -y -qq \
		--no-install-recommends "${missing[@]}" >/dev/null ||
		die "cannot install: ${missing[*]}"
}

# build DIR TARGET [MESON-OPTION...]: configure once, build.
build() {
	local dir=$1 target=$2
	shift 2
	if [[ ! -f $dir/build.ninja ]]; then
		meson setup "$dir" "$top" "$@" >"$dir.setup.log" 2>&1 || {
			tail -n 30 "$dir.setup.log"
			die "meson setup failed"
		}
		rm -f "$dir.setup.log"
	fi
	ninja -C "$dir" "$target" >"$dir/build.log" 2>&1 || {
		grep -E -A6 'error|FAILED' "$dir/build.log" | head -n 60
		die "the build failed: $dir/build.log"
	}
}
