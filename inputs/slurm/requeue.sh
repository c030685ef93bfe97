#!/bin/bash
# Made by: warpdeck batch inputs/fluid/channel.toml --ranks 8 --gpus-per-node 4 --time 04:00:00
#SBATCH --job-name=channel
#SBATCH --nodes=2
#SBATCH --ntasks=8
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --time=04:00:00
#SBATCH --signal=B:USR1@600
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=channel.%j.out

# What may be set from outside, as in
#   WARPDECK=$HOME/bin/warpdeck WARPDECK_LAUNCH=mpirun sbatch ...
warpdeck=${WARPDECK:-warpdeck}
launch=${WARPDECK_LAUNCH:-srun}
deck=inputs/fluid/channel.toml
name=channel
out=channel
keys=()
member=()
export OMP_NUM_THREADS=1 SRUN_CPUS_PER_TASK=1
# A cluster's modules are loaded here, where the login shell's are not passed on.

asked=0
ask() {
    asked=$((asked + 1))
    touch "$out/STOP"
    [ "$asked" -gt 1 ] || kill -USR1 "$run" 2>/dev/null
}
trap ask USR1 TERM

mkdir -p "$out" || exit 1
saved() { stat -c '%n %y' "$out/$name".ckpt.*.h5 2>/dev/null; }
before=$(saved)
# shellcheck disable=SC2086
$launch "$warpdeck" run "$deck" "${keys[@]}" "${member[@]}" --output "$out" --resume auto &
run=$!
while :; do
    seen=$asked
    wait "$run"
    status=$?
    [ "$asked" -ne "$seen" ] || break
done
rm -f "$out/STOP"

# 75: stopped in time, with a checkpoint. The job goes on later, unless somebody
# made a file STOP, or nothing was computed.
if [ "$status" -eq 75 ] && [ "$(saved)" != "$before" ]; then
    if [ "$asked" -eq 0 ] && tail -n 4 "$out/$name.log" |
        grep -qF '(file STOP)'; then
        exit 75
    fi
    job=$SLURM_JOB_ID
    [ -z "$SLURM_ARRAY_TASK_ID" ] ||
        job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
    scontrol requeue "$job"
fi
exit "$status"
