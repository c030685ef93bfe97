# Scripts parse, before anybody runs them.
. "$top_srcdir/tests/tap.sh"

for file in bootstrap quickstart .ci/run tests/run-test tests/tally.sh \
    build-aux/revision.sh scripts/gpu-bundle; do
    case $(head -n 1 "$top_srcdir/$file") in
    *bash*) check "$file is bash that parses" bash -n "$top_srcdir/$file" ;;
    *) check "$file is POSIX sh that parses" sh -n "$top_srcdir/$file" ;;
    esac
done

bad=
for file in $(find "$top_srcdir/tests" "$top_srcdir/bench" -name '*.sh'); do
    interpreter=sh
    case $(head -n 1 "$file") in *bash*) interpreter=bash ;; esac
    $interpreter -n "$file" 2>>errors || bad="$bad $file"
done
is "$bad" "" "the scripts of tests and bench parse"

if [ -n "$WARPDECK_PYTHON" ]; then
    # In one process: it takes longer to start than to parse a file.
    find "$top_srcdir/tests" "$top_srcdir/postproc" "$top_srcdir/inputs" \
        -name '*.py' -o -name 'warpdeck-post*' -type f >files
    bad=$("$WARPDECK_PYTHON" -c '
import ast, sys
for name in sys.stdin.read().split("\n")[:-1]:
    try:
        ast.parse(open(name).read())
    except (SyntaxError, ValueError) as error:
        print(name, error)' <files 2>&1)
    is "$bad" "" "the Python files parse"
fi
done_testing
