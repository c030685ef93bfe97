#!/bin/bash
# Made by: warpdeck batch inputs/md/lj_melt.toml --ranks 4 --time 00:30:00 --no-requeue
#SBATCH --job-name=lj_melt
#SBATCH --ntasks=4
#SBATCH --time=00:30:00
#SBATCH --signal=B:USR1@90
#SBATCH --no-requeue
#SBATCH --open-mode=append
#SBATCH --output=lj_melt.%j.out

# What may be set from outside, as in
#   WARPDECK=$HOME/bin/warpdeck WARPDECK_LAUNCH=mpirun sbatch ...
warpdeck=${WARPDECK:-warpdeck}
launch=${WARPDECK_LAUNCH:-srun}
deck=inputs/md/lj_melt.toml
name=lj_melt
out=lj_melt
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
exit "$status"
