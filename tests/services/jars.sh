# Jars of a pinned program by Maven: sourced, after `here` and `java` are set. Exit 8: a tool that this needs is missing.

# prepare_jars NAME VERSION FOLDER PROPERTY CACHE: fetches what FOLDER/pom.xml names, whose property of that name is the
# version, into CACHE/lib, and checks each jar against FOLDER/jars.sha256.
prepare_jars() {
	sums=$3/jars.sha256
	[ -f "$5/lib/.ok" ] && [ "$sums" -ot "$5/lib/.ok" ] && return
	command -v "$java" >/dev/null || missing_tool "$1 $2" java
	command -v mvn >/dev/null || missing_tool "$1 $2" mvn
	mkdir -p "$5"
	fresh=$(mktemp -d "$5/lib.XXXXXX")
	trap 'rm -rf "$fresh"' EXIT
	mvn -q -B -C -f "$3/pom.xml" "-D$4=$2" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$fresh" >&2
	checked_jars "$fresh" || {
		echo "the jars of $1 $2 are not those of jars.sha256" >&2
		exit 1
	}
	rm -rf "$5/lib"
	mv "$fresh" "$5/lib"
	: >"$5/lib/.ok"
	trap - EXIT
}

checked_jars() { (cd "$1" && sha256sum --quiet --strict -c "$sums" && [ "$(ls | wc -l)" -eq "$(wc -l <"$sums")" ]) >&2; }

missing_tool() {
	echo "$1 cannot be prepared: there is no $2" >&2
	exit 8
}
