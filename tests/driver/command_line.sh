# timeout: 120
# The command line: help, misspellings, exit statuses, one message each.
. "$top_srcdir/tests/tap.sh"

# says WANT_STATUS SENTENCE WANTED_STANDARD_ERROR COMMAND...
says() {
    says_want=$3
    says_sentence=$2
    exits "$1" "$says_sentence" "$WARPDECK" $4 || return 1
    if [ "$(cat tap.err)" != "$says_want" ]; then
        not_ok "$says_sentence: its message"
        note "got:"
        note_file tap.err
        note "want:"
        note "$says_want"
        return 1
    fi
    ok "$says_sentence: its message"
}

exits 0 "--help succeeds" "$WARPDECK" --help
for command in run check explain new info bench; do
    matches tap.out "^  $command +[a-z]" "--help names $command"
done
exits 0 "run --help succeeds" "$WARPDECK" run --help
cp tap.out one
contains one "--overwrite" "it shows the options of run"
if grep -q -- --rebuild-every one; then
    not_ok "it shows no options of other commands"
else
    ok "it shows no options of other commands"
fi
exits 0 "help run succeeds" "$WARPDECK" help run
mv tap.out two
check "and shows the same" cmp one two
for command in run check explain new info bench help; do
    "$WARPDECK" help $command >out 2>&1
    if [ "$(awk 'length($0) > 79' out)" = "" ]; then
        ok "help $command keeps to 79 columns"
    else
        not_ok "help $command keeps to 79 columns"
    fi
done
exits 0 "--version succeeds" "$WARPDECK" --version
matches tap.out '^Warpdeck [0-9]+\.[0-9]+\.[0-9]+  \(git .+\)$' "it is one line"
exits 0 "info succeeds" "$WARPDECK" info
for word in "built with" MPI HDF5 solver device processor memory; do
    contains tap.out "$word" "info tells of $word"
done
matches tap.out '^device +auto: c[a-z]+; .' "info tells what auto is, and why"

says 2 "no command" "error: no command is given
  use warpdeck --help" ""
says 2 "a misspelt command" "error: unknown command 'rnu'; did you mean 'run'?
  use warpdeck --help for the list" "rnu deck.toml"
says 2 "an unknown command" "error: unknown command 'transmogrify'
  use warpdeck --help for the list" transmogrify
says 2 "help for an unknown command" \
    "error: unknown command 'chekc'; did you mean 'check'?
  use warpdeck --help for the list" "help chekc"
says 2 "a misspelt option" \
    "error: unknown option '--ouptut'; did you mean '--output'?
  use warpdeck run --help" "run deck.toml --ouptut x"
says 2 "an unknown letter" "error: unknown option '-z'
  use warpdeck run --help" "run deck.toml -z"
says 2 "an option of another command" "error: check takes no --overwrite
  use warpdeck check --help" "check deck.toml --overwrite"
says 2 "an option without its value" \
    "error: --output needs a value: --output DIR" "run deck.toml --output"
says 2 "a flag with a value" "error: --overwrite takes no value" \
    "run deck.toml --overwrite=yes"
says 2 "a value that is no choice" \
    "error: --device gpu: expected one of auto|cpu|cuda" \
    "run deck.toml --device gpu"
says 2 "no deck" "error: run needs DECK [section.key=value ...]
  use warpdeck run --help" run
says 2 "two decks" "error: unexpected 'b.toml'
  use section.key=value to set a key of the deck" "run a.toml b.toml"
says 2 "ranks that are no number" \
    "error: --ranks four: expected a whole number of at least 1" \
    "check deck.toml --ranks four"
says 2 "an unknown size" \
    "error: --sizes 33k: expected some of 32k, 256k, 1M, with commas between \
them" "bench --sizes 32k,33k"
says 2 "an unknown solver" "error: there is no solver 'dem'" "bench dem"

cat >deck.toml <<'END'
[run]
solver = "md"
[md]
steps = 10
[md.initial]
lattice = "fcc"
cells = [10, 10, 10]
density = 0.8
temperature = 1
[md.pair]
cutoff = 2.5
[output]
frames_every = 4
observables_every = 5
END
exits 0 "check succeeds" "$WARPDECK" check deck.toml
matches tap.out '4000 particles' "it tells the number of particles"
matches tap.out '^  device +c[a-z]+; .*c[a-z]' "it tells where it would run, and \
why"
matches tap.out ': 4 frames of 96.0 kB; 3 rows' \
    "it counts frames and rows: steps 0, 4, 8, 10 and 0, 5, 10"
is "$(ls)" "$(printf 'deck.toml\none\nout\ntap.err\ntap.out\ntwo')" \
    "it writes nothing"
exits 0 "check --ranks succeeds" "$WARPDECK" check deck.toml --ranks 12
matches tap.out '12, as 4 x 3 x 1' "it plans for ranks that are not there"
exits 2 "an override goes through the checks" \
    "$WARPDECK" check deck.toml md.pair.cutoff=9
exits 2 "a missing deck is an error" "$WARPDECK" run nowhere.toml
is "$(grep -c 'error: ' tap.err)" 1 "with one message"

exits 2 "threads beyond reason are refused" \
    env OMP_NUM_THREADS=99999 "$WARPDECK" run deck.toml --output threads
is "$(cat tap.err)" "error: OMP_NUM_THREADS asks for 99999 threads of a rank; \
at most 4096" "with one message"

if have_mpi; then
    for line in "rnu" "run nowhere.toml" "check deck.toml md.pair.cutoff=9"; do
        # shellcheck disable=SC2086
        ranks 3 "$WARPDECK" $line >tap.out 2>tap.err
        is $? 2 "on 3 ranks, exit status 2: $line"
        is "$(grep -c 'error: ' tap.err)" 1 "one message: $line"
    done
    ranks 3 "$WARPDECK" --version >tap.out 2>tap.err
    is "$(grep -c Warpdeck tap.out)" 1 "on 3 ranks the version is told once"
    ranks 2 "$WARPDECK" check deck.toml >tap.out 2>tap.err
    matches tap.out '2, as 2 x 1 x 1' "check plans for the ranks there are"
else
    skip 8 "built without MPI"
fi
done_testing
