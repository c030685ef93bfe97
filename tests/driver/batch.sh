# timeout: 120
# Scripts for Slurm: what stands in them, and what they do, without a Slurm.
. "$top_srcdir/tests/driver/toy.sh"

cat >melt.toml <<'END'
[run]
solver = "md"
[md]
steps = 20
[md.initial]
lattice = "fcc"
cells = [6, 6, 6]
density = 0.8
temperature = 1.44
[md.pair]
cutoff = 2.5
END
# has LINE SENTENCE: in the script
has() {
    if grep -qxF -- "$1" job.sh; then
        ok "$2"
    else
        not_ok "$2"
        note_file job.sh
    fi
}

exits 0 "batch succeeds" "$WARPDECK" batch melt.toml --ranks 8 \
    --gpus-per-node 4 --time 04:00:00
mv tap.out job.sh
check "what it prints is a script" bash -n job.sh
has "#SBATCH --nodes=2" "8 ranks on 4 cards a node need 2 nodes"
has "#SBATCH --ntasks-per-node=4" "with one rank to a card"
has "#SBATCH --signal=B:USR1@600" "of 4 hours the last 10 minutes are kept"
has "#SBATCH --requeue" "the job may be queued again"
has "#SBATCH --open-mode=append" "and its output stays"
contains job.sh "--resume auto" "it goes on where it was"
contains job.sh "scontrol requeue" "by its own wish, too"

exits 0 "an array" "$WARPDECK" batch melt.toml run.threads=2 --ranks 2 \
    --array "domain.ranks=[1,2,1],[2,1,1]" --output 'my sweep'
mv tap.out job.sh
check "is a script, too" bash -n job.sh
has "#SBATCH --array=0-1" "commas within brackets part no values"
has "#SBATCH --cpus-per-task=2" "threads are reserved"
has "out='my sweep'" "a folder may have a blank"
has "    member=(domain.ranks='[1,2,1]') ;;" "values reach the shell as they are"
has "    out=\$out/0_ranks=_1_2_1_" "and names of folders are plain"
# shellcheck disable=SC2016
"$WARPDECK" batch melt.toml --array "run.title=a,\"it's \$(touch bad)\"" >job.sh
WARPDECK_LAUNCH=env SLURM_ARRAY_TASK_ID=1 WARPDECK="$WARPDECK" \
    bash job.sh >array.out 2>&1
is $? 0 "a text with all that shells know runs"
contains array.out "it's \$(touch bad)" "as it is"
check "and nothing of it is done" test ! -e bad

WARPDECK_LAUNCH=env SLURM_ARRAY_TASK_ID=0 WARPDECK="$WARPDECK" \
    bash job.sh >array.out 2>&1
if [ -n "$WARPDECK_PYTHON" ]; then
    check "both are gathered" "$WARPDECK_PYTHON" \
        "$top_srcdir/postproc/warpdeck-post" gather melt
    is "$(cut -d , -f 1-4 melt/gathered.csv | head -n 2)" \
        "folder,run.title,complete,step
0_title=a,a,1,20" "in a table"
else
    skip 2 "no Python with h5py"
fi

# refused SENTENCE TEXT OPTION...
refused() {
    refused_sentence=$1 refused_text=$2
    shift 2
    exits 2 "$refused_sentence" "$WARPDECK" batch melt.toml "$@"
    contains tap.err "$refused_text" "$refused_sentence: why"
    is "$(cat tap.out)" "" "$refused_sentence: no script"
}
refused "a card without a rank" "idle" --ranks 2 --gpus-per-node 4
refused "a node that is not full" "do not fill nodes of 4 GPUs" --ranks 6 \
    --gpus-per-node 4
refused "a time that is none" "expected hours:minutes:seconds" --time 4h
refused "an array without values" "a value is empty" --array run.seed=
refused "a list that ends in a comma" "a value is empty" --array run.seed=1,
refused "a launcher that is more than a command" "expected a command" \
    --launch 'srun; rm x'
refused "a value that the deck does not take" "run.seed" --array run.seed=1,-1
refused "a deck that 8 ranks can not share" "domain.ranks" \
    "domain.ranks=[2,2,1]" --ranks 8
for time in 90 90:30 4:00:00 1-0 1-12:30 2-00:00:01; do
    check "--time $time is one of Slurm's" "$WARPDECK" batch melt.toml \
        --time $time
done

# The script at work: launched without a launcher, with a scontrol of our own.
mkdir bin
cat >bin/scontrol <<'END'
#!/bin/sh
echo "$*" >>requeued
END
chmod +x bin/scontrol
PATH=$PWD/bin:$PATH
WARPDECK=$TOY WARPDECK_LAUNCH="env --default-signal" SLURM_JOB_ID=17
export WARPDECK WARPDECK_LAUNCH SLURM_JOB_ID
slow="toy.steps=100000 toy.pause=0.01 output.observables_every=1000000"
started() {
    i=0
    while ! grep -q '^ *[0-9]* ' "$1" 2>/dev/null && [ $i -lt 100 ]; do
        sleep 0.1
        i=$((i + 1))
    done
    sleep 0.3
}
# shellcheck disable=SC2086
"$TOY" batch toy.toml $slow >slow.sh
bash slow.sh >slow.out 2>&1 &
pid=$!
started toy/toy.log
kill -USR1 $pid
wait $pid
is $? 75 "a signal stops the run: status 75"
is "$(cat requeued)" "requeue 17" "and the job is queued again"
is "$(ls toy)" "$(printf 'toy.ckpt.0.h5\ntoy.h5\ntoy.log')" \
    "its folder has a checkpoint, and no STOP"
mv requeued before
bash slow.sh >slow.out 2>&1 &
pid=$!
i=0
while ! grep -q 'goes on from' slow.out && [ $i -lt 100 ]; do
    sleep 0.1
    i=$((i + 1))
done
sleep 0.3
touch toy/STOP
wait $pid
is $? 75 "a file STOP stops it as well"
check "but for good" test ! -e requeued
WARPDECK_LAUNCH="false" bash slow.sh >slow.out 2>&1
is $? 1 "a run that fails: its status"
check "and it is not queued again" test ! -e requeued
cat >stuck <<'END'
#!/bin/sh
exit 75
END
chmod +x stuck
WARPDECK_LAUNCH=./stuck bash slow.sh >slow.out 2>&1
is $? 75 "a run that stops without having computed anything"
check "is not queued for ever" test ! -e requeued
SLURM_STEP_NUM_TASKS=2 exits 2 "processes of srun that MPI does not know" \
    "$TOY" run toy.toml --output alone
contains tap.err "srun started 2 processes, but MPI sees only this one" \
    "are refused"

# The examples are what the command makes.
for script in "$top_srcdir"/inputs/slurm/*.sh; do
    line=$(sed -n 's/^# Made by: warpdeck //p' "$script")
    eval "set -- $line"
    (cd "$top_srcdir" && "$top_builddir/warpdeck" "$@") >made.sh 2>&1
    check "inputs/slurm/$(basename "$script") is made by its second line" \
        cmp made.sh "$script"
done
done_testing
