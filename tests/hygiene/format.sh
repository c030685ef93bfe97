# The C sources look as .clang-format says.
. "$top_srcdir/tests/tap.sh"

case $("${CLANG_FORMAT:-clang-format}" --version 2>/dev/null) in
*" 14."*) ;;
*) skip_all "clang-format 14 is not installed" ;;
esac

cd "$top_srcdir" || exit 99
find src solvers kernels tests -name work -prune -o \
    \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.cu' \) -print |
    sort >"$TEST_DIR/files"

# Each start takes longer than a file.
xargs "$CLANG_FORMAT" --dry-run <"$TEST_DIR/files" >"$TEST_DIR/report" 2>&1
status=$?
cd "$TEST_DIR" || exit 99
changed=$(sed -n 's/^\(.*\):[0-9]*:[0-9]*: warning: .*/\1/p' report | sort -u)
is "$status, $changed" "0, " \
    "all C sources keep the format (run clang-format -i on these)"
[ -z "$changed" ] || note_file report
done_testing
