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
cd "$TEST_DIR" || exit 99

changed=
while read -r file; do
    "$CLANG_FORMAT" "$top_srcdir/$file" | cmp -s - "$top_srcdir/$file" ||
        changed="$changed $file"
done <files
is "$changed" "" "all C sources keep the format (run clang-format -i on these)"
done_testing
