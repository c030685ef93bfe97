#!/bin/bash
# Made by: warpdeck batch inputs/md/lj_liquid.toml --ranks 2 --time 02:00:00 --array md.ensemble.temperature=0.85,0.95,1.05,1.15
#SBATCH --job-name=lj_liquid
#SBATCH --ntasks=2
#SBATCH --time=02:00:00
#SBATCH --signal=B:USR1@360
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=lj_liquid.%A_%a.out
#SBATCH --array=0-3

# What may be set from outside, as in
#   WARPDECK=$HOME/bin/warpdeck WARPDECK_LAUNCH=mpirun sbatch ...
warpdeck=${WARPDECK:-warpdeck}
launch=${WARPDECK_LAUNCH:-srun}
deck=inputs/md/lj_liquid.toml
name=lj_liquid
out=lj_liquid
keys=()
member=()
export OMP_NUM_THREADS=1 SRUN_CPUS_PER_TASK=1
# A cluster's modules are loaded here, where the login shell's are not passed on.

case $SLURM_ARRAY_TASK_ID in
0)
    out=$out/0_temperature=0.85
    member=(md.ensemble.temperature=0.85) ;;
1)
    out=$out/1_temperature=0.95
    member=(md.ensemble.temperature=0.95) ;;
2)
    out=$out/2_temperature=1.05
    member=(md.ensemble.temperature=1.05) ;;
3)
    out=$out/3_temperature=1.15
    member=(md.ensemble.temperature=1.15) ;;
*)
    echo "this script is for sbatch, as an array" >&2
    exit 2 ;;
esac

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
