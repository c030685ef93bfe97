# timeout: 600
# Jobs of a real Slurm, started here on one node: stopped, requeued, gone on
# with; an array, gathered.
. "$top_srcdir/tests/tap.sh"

for program in slurmctld slurmd munged sbatch scontrol; do
    command -v $program >/dev/null ||
        skip_all "no Slurm here (packages slurm-wlm and munge): no $program"
done
[ "$(id -u)" = 0 ] || skip_all "Slurm's daemons are started by root only"
have_mpi || skip_all "built without MPI"

# A folder with a short name: that of a socket may have 107 bytes.
slurm=$(mktemp -d /tmp/warpdeck-slurm.XXXXXX) || exit 99
SLURM_CONF=$slurm/slurm.conf
export SLURM_CONF
unset SLURM_JOB_ID SLURM_JOB_END_TIME

stop_slurm() {
    scancel -u "$(id -un)" 2>/dev/null
    for daemon in slurmd slurmctld munged; do
        [ -s "$slurm/$daemon.pid" ] && kill "$(cat "$slurm/$daemon.pid")"
    done
    sleep 1
    rm -rf "$slurm"
}
trap 'stop_slurm >/dev/null 2>&1' EXIT
trap 'exit 1' INT TERM

port=$((20000 + $$ % 20000))
host=$(hostname -s)
cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$slurm/munge.sock,cred_expire=4
CredType=cred/munge
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1,requeue_delay=0
MpiDefault=none
ReturnToService=2
JobRequeue=1
KillWait=5
MinJobAge=300
SwitchType=switch/none
SlurmdParameters=config_overrides
MailProg=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 RealMemory=2000 State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
start_slurm() {
    mkdir "$slurm/state" "$slurm/spool" && chmod 755 "$slurm" &&
        (umask 077 && head -c 32 /dev/urandom >"$slurm/munge.key") &&
        munged --force --num-threads=1 --key-file="$slurm/munge.key" \
            --socket="$slurm/munge.sock" --pid-file="$slurm/munged.pid" \
            --log-file="$slurm/munged.log" --seed-file="$slurm/munge.seed" &&
        slurmctld -c && slurmd -c
}
start_slurm >"$slurm/start.out" 2>&1
# until SECONDS COMMAND...: wait until the command succeeds.
until_true() {
    tries=$(($1 * 5))
    shift
    while ! "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.2
    done
}
idle() {
    [ "$(sinfo -h -o %t)" = idle ]
}
if ! until_true 20 idle; then
    note_file "$slurm/start.out"
    tail -n 5 "$slurm"/*.log | sed 's/^/#   /'
    skip_all "Slurm does not start on this machine"
fi

# Some seconds of work.
cat >melt.toml <<'END'
[run]
solver = "md"
[md]
steps = 3000
[md.initial]
lattice = "fcc"
cells = [6, 6, 6]
density = 0.8442
temperature = 1.44
[md.pair]
cutoff = 2.5
[checkpoint]
every = 500
END
WARPDECK_LAUNCH="$WARPDECK_MPIRUN $WARPDECK_MPIRUN_FLAGS -n 2"
export WARPDECK_LAUNCH

state() {
    scontrol show job "$1" -o | sed 's/.* JobState=\([A-Z]*\) .*/\1/'
}
is_state() {
    [ "$(state "$1")" = "$2" ]
}
has_text() {
    grep -q "$1" "$2"
}
# A requeued job is held for a while, which a test needs not wait for.
release() {
    until_true 20 is_state "$1" PENDING
    scontrol update JobId="$1" StartTime=now
}

# A job that is signalled.
"$WARPDECK" batch melt.toml --ranks 2 --time 00:10:00 --output out >job.sh
matches job.sh '^#SBATCH --signal=B:USR1@60$' "the signal comes in time"
job=$(sbatch --parsable job.sh)
until_true 30 has_text '^ *500 ' out/melt.log
scancel --batch --signal=USR1 "$job"
until_true 30 has_text 'stopped at step' out/melt.log
matches out/melt.log 'stopped at step [0-9]+ of 3000' \
    "a signalled job saves its state and stops"
release "$job"
until_true 60 is_state "$job" COMPLETED
is "$(state "$job")" COMPLETED "it is requeued, goes on, and ends well"
is "$(scontrol show job "$job" -o | sed 's/.* Restarts=\([0-9]*\) .*/\1/')" 1 \
    "after one more start"
matches "melt.$job.out" 'goes on from step [0-9]+ of out/melt.ckpt' \
    "from its checkpoint"
is "$(ls out)" "$(printf 'melt.ckpt.0.h5\nmelt.ckpt.1.h5\nmelt.h5\nmelt.log')" \
    "nothing else is left in its folder"

# The undisturbed run, on as many ranks.
ranks 2 "$WARPDECK" run melt.toml --output whole -q
if [ -n "$WARPDECK_PYTHON" ]; then
    check "all its numbers are those of a run that was not stopped" \
        "$WARPDECK_PYTHON" "$top_srcdir/postproc/warpdeck-post" diff \
        out/melt.h5 whole/melt.h5
else
    skip 1 "no Python with h5py"
fi

# Somebody's STOP is for good.
"$WARPDECK" batch melt.toml md.steps=1000000 --ranks 2 --output stop >stop.sh
job=$(sbatch --parsable stop.sh)
until_true 30 has_text '^ *100 ' stop/melt.log
touch stop/STOP
until_true 30 is_state "$job" FAILED
is "$(scontrol show job "$job" -o |
    sed 's/.* Restarts=\([0-9]*\) .* ExitCode=\([0-9:]*\) .*/\1 \2/')" \
    "0 75:0" "a job with a file STOP ends with status 75, and is not requeued"

# An array, on ranks that srun starts where it can.
unset WARPDECK_LAUNCH
launch="$WARPDECK_MPIRUN $WARPDECK_MPIRUN_FLAGS"
srun --mpi=list 2>&1 | grep -q pmix && launch='srun --mpi=pmix'
"$WARPDECK" batch melt.toml md.steps=200 --ranks 2 --launch "$launch" \
    --array md.initial.temperature=0.5,1,1.5,2 --output sweep >array.sh
job=$(sbatch --parsable array.sh)
members_done() {
    [ "$(grep -ls 'wrote' sweep/*/melt.log | wc -l)" = 4 ] &&
        [ -z "$(squeue -h -j "$job")" ]
}
until_true 60 members_done
is "$(ls sweep | tr '\n' ' ')" \
    "0_temperature=0.5 1_temperature=1 2_temperature=1.5 3_temperature=2 " \
    "each job of an array has its own folder"
if [ -n "$WARPDECK_PYTHON" ]; then
    check "they are gathered" "$WARPDECK_PYTHON" \
        "$top_srcdir/postproc/warpdeck-post" gather sweep
    is "$(cut -d , -f 1-4 sweep/gathered.csv)" \
"folder,md.initial.temperature,complete,step
0_temperature=0.5,0.5,1,200
1_temperature=1,1.0,1,200
2_temperature=1.5,1.5,1,200
3_temperature=2,2.0,1,200" "in a table with what differs"
else
    skip 2 "no Python with h5py"
fi
done_testing
