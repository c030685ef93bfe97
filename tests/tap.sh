# tap.sh: results of tests written in shell, in the Test Anything Protocol.
#
#   . "$top_srcdir/tests/tap.sh"
#   plan 2                                    (or done_testing at the end)
#   check "the program says its version" "$WARPDECK" --version
#   is "$got" "$want" "both texts are equal"
#   done_testing
#
# The working directory is an empty folder, see run-test. POSIX sh.

tap_count=0
tap_failed=0
tap_planned=

plan() {
    tap_planned=$1
    echo "1..$1"
}

# ok SENTENCE / not_ok SENTENCE
ok() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1"
}
not_ok() {
    tap_count=$((tap_count + 1))
    tap_failed=$((tap_failed + 1))
    echo "not ok $tap_count - $1"
    return 1
}

note() {
    printf '%s\n' "$*" | sed 's/^/#   /'
}
note_file() { # the first lines of a file
    head -n "${2:-40}" "$1" | sed 's/^/#   /'
}

# check SENTENCE COMMAND...: the command succeeds; its output is shown if not.
check() {
    tap_sentence=$1
    shift
    if "$@" >tap.out 2>&1; then
        ok "$tap_sentence"
    else
        tap_status=$?
        not_ok "$tap_sentence"
        note "status $tap_status of: $*"
        note_file tap.out
        return 1
    fi
}

# exits WANT SENTENCE COMMAND...: the exit status is WANT. Standard output is
# left in tap.out, standard error in tap.err.
exits() {
    tap_want=$1
    tap_sentence=$2
    shift 2
    "$@" >tap.out 2>tap.err
    tap_status=$?
    if [ "$tap_status" -eq "$tap_want" ]; then
        ok "$tap_sentence"
    else
        not_ok "$tap_sentence"
        note "status $tap_status, expected $tap_want, of: $*"
        note_file tap.out
        note_file tap.err
        return 1
    fi
}

# is GOT WANT SENTENCE
is() {
    if [ "$1" = "$2" ]; then
        ok "$3"
    else
        not_ok "$3"
        note "got:  $1"
        note "want: $2"
        return 1
    fi
}

# contains FILE TEXT SENTENCE: a fixed text stands in the file.
contains() {
    if grep -qF -- "$2" "$1"; then
        ok "$3"
    else
        not_ok "$3"
        note "not found: $2"
        note_file "$1"
        return 1
    fi
}
# matches FILE PATTERN SENTENCE: an extended regular expression.
matches() {
    if grep -qE -- "$2" "$1"; then
        ok "$3"
    else
        not_ok "$3"
        note "no line matches: $2"
        note_file "$1"
        return 1
    fi
}

# skip N REASON / skip_all REASON
skip() {
    tap_i=0
    while [ "$tap_i" -lt "$1" ]; do
        tap_i=$((tap_i + 1))
        tap_count=$((tap_count + 1))
        echo "ok $tap_count # SKIP $2"
    done
}
skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

have_mpi() {
    [ -n "$WARPDECK_MPIRUN" ]
}
# ranks N COMMAND...: run on N ranks; N = 1 without a launcher. Fails with 99
# where there is no MPI, so ask have_mpi before.
ranks() {
    tap_n=$1
    shift
    if [ "$tap_n" -eq 1 ]; then
        "$@"
    elif have_mpi; then
        # shellcheck disable=SC2086
        "$WARPDECK_MPIRUN" $WARPDECK_MPIRUN_FLAGS -n "$tap_n" "$@"
    else
        return 99
    fi
}

done_testing() {
    if [ -z "$tap_planned" ]; then
        echo "1..$tap_count"
    fi
    [ "$tap_failed" -eq 0 ]
    exit
}
