# timeout: 90
"""[monitor]: the health of a run, in its log and its file; power meters and
NVIDIA's library are made up."""

import os
import re
import shutil
import subprocess
import tap

h5py, numpy = tap.need("h5py", "numpy")

DECK = """[run]
solver = "md"
[md]
steps = 60
timestep = 0.005
[md.initial]
lattice = "fcc"
density = 0.8442
cells = [6, 6, 6]
temperature = 1.44
[md.pair]
style = "lj"
cutoff = 2.5
[monitor]
every = 20
powercap = "power"
"""

# Two cards of known state, with the functions of NVIDIA's API reference.
CARDS = """
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 2; return 0; }
static int cards[2] = {0, 1};
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **c)
{ *c = &cards[i]; return 0; }
int nvmlDeviceGetUtilizationRates(void *c, unsigned *out)
{ out[0] = *(int *)c ? 90 : 80; out[1] = 1; return 0; }
int nvmlDeviceGetMemoryInfo(void *c, unsigned long long *out)
{ (void)c; out[0] = 80ull << 30; out[1] = 77ull << 30; out[2] = 3ull << 30;
  return 0; }
int nvmlDeviceGetTemperature(void *c, int sensor, unsigned *out)
{ *out = 60 + 5 * (unsigned)*(int *)c + 100 * (unsigned)sensor; return 0; }
int nvmlDeviceGetPowerUsage(void *c, unsigned *out)
{ (void)c; *out = 250500; return 0; }
int nvmlDeviceGetTotalEccErrors(void *c, int kind, int since,
                                unsigned long long *out)
{ *out = kind == 1 && since == 0 ? 4 + *(int *)c : 99; return 0; }
"""
ALWAYS = ["halo_share", "imbalance", "memory", "memory_rank",
          "steps_per_second"]


def rows(path):
    with h5py.File(path, "r") as f:
        if "monitor" not in f:
            return {}, []
        m = f["monitor"]
        return ({k: m[k + "/value"][()] for k in sorted(m)},
                list(m["imbalance/step"][()]))


with open("melt.toml", "w", encoding="utf-8") as out:
    out.write(DECK)
with open("plain.toml", "w", encoding="utf-8") as out:
    out.write(DECK[:DECK.index("[monitor]")])

tap.warpdeck("run", "plain.toml", "--output", "plain")
tap.is_(rows("plain/plain.h5"), ({}, []), "without [monitor] there is nothing")

got = tap.warpdeck("run", "melt.toml", "--output", "bare", "monitor.cards=on",
                   "md.steps=40", "checkpoint.every=40")
values, steps = rows("bare/melt.h5")
tap.is_((list(values), steps), (ALWAYS, [20, 40]),
        "every 20 steps there is a row of what any machine tells")
tap.ok("no meter can be read in power" in got.stdout
       and "nothing of cards, since" in got.stdout,
       "a line says why there is no power, and nothing of cards")
tap.ok(all(v > 0 for v in values["steps_per_second"])
       and all(1e6 < v < 1e11 for v in values["memory_rank"]),
       "steps a second and memory are of the right size")
tap.is_(list(values["imbalance"]), [1, 1], "one rank is balanced")
tap.is_(got.stdout.count("\nmonitor: "), 4, "the log has a line for each row")
told = re.findall(r"memory of a rank ([\d.]+) MB", got.stdout)
tap.ok(len(told) == 2 and all(abs(1e6 * float(t) / v - 1) < 0.01 for t, v in zip(
    told, values["memory_rank"])), "with the memory in the program's units")
tap.warpdeck("run", "melt.toml", "--output", "bare", "monitor.cards=on",
             "md.steps=60", "--resume", "auto", "monitor.every=10")
tap.is_(rows("bare/melt.h5")[1], [20, 40, 50, 60],
        "a run that goes on keeps the rows, and may be watched more closely")

os.makedirs("power/intel-rapl:0")
for name, number in ("energy_uj", 12), ("max_energy_range_uj", 1000):
    with open("power/intel-rapl:0/" + name, "w", encoding="utf-8") as out:
        out.write(f"{number}\n")
compiler = shutil.which("cc") or shutil.which("gcc")
if compiler is None:
    tap.skip(2, "no compiler to make a library of cards")
else:
    os.mkdir("lib")
    with open("cards.c", "w", encoding="utf-8") as out:
        out.write(CARDS)
    subprocess.run([compiler, "-shared", "-fPIC", "-o",
                    "lib/libnvidia-ml.so.1", "cards.c"], check=True)
    paths = [os.path.abspath("lib")] + \
        [p for p in [os.environ.get("LD_LIBRARY_PATH")] if p]
    tap.warpdeck("run", "melt.toml", "--output", "cards", "monitor.cards=on",
                 env=dict(os.environ, LD_LIBRARY_PATH=":".join(paths)))
    values, steps = rows("cards/melt.h5")
    tap.is_(sorted(set(values) - set(ALWAYS)),
            ["card_ecc_errors", "card_memory", "card_power",
             "card_temperature", "card_utilisation", "cpu_power"],
            "cards and power meters are told of where they are")
    tap.is_([float(values[k][-1]) for k in
             ("card_ecc_errors", "card_memory", "card_power",
              "card_temperature", "card_utilisation")],
            [9, 6 * 2.0**30, 501, 65, 85],
            "sums of errors, memory and power, the hottest, mean use")
tap.done()
