# What the scripts share. Sourced, with the repository's root as the current folder.

# Ends with one sentence and an exit code as the commands of `chute` have it (69: unavailable).
fail() {
    local code=$1
    shift
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit "$code"
}

# Runs a command and notes what it took. A script that runs others prints their parts too.
part() {
    local name=$1 started=$SECONDS code=0
    shift
    printf '== %s\n' "$name"
    "$@" || code=$?
    printf '%6d s  %s%s\n' "$((SECONDS - started))" "$name" "$([ "$code" = 0 ] || echo " (failed)")" \
        >>"$CHUTE_PARTS"
    return "$code"
}

# Prints the parts when the outermost script ends, also when one of them failed.
print_parts_at_exit() {
    [ -z "${CHUTE_PARTS:-}" ] || return 0
    CHUTE_PARTS=$(mktemp)
    export CHUTE_PARTS
    trap 'printf "\n== what each part took\n"; cat "$CHUTE_PARTS"; rm -f "$CHUTE_PARTS"
        printf "%6d s  together\n" "$SECONDS"' EXIT
}
