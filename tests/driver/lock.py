# timeout: 120
"""One run at a time writes the files of a name in a folder.

A second job in the folder of a running one is refused before it touches
anything; what a killed run left behind holds up nobody; and a rank that outlives
its run is waited for.
"""

import fcntl
import os
import signal
import socket
import subprocess
import time

import tap

with open("l.toml", "w", encoding="utf-8") as deck:
    deck.write("""
[run]
solver = "md"
[md]
timestep = 0.001
steps = 100_000_000
[md.initial]
lattice = "fcc"
cells = [4, 4, 4]
density = 0.8
temperature = 1.0
[md.pair]
cutoff = 2.5
[output]
observables_every = 1000
[checkpoint]
every = 200
""")
LOCK = "out/l.lock"


def start(ranks=1, *more):
    with open("child.log", "a", encoding="utf-8") as log:
        return subprocess.Popen(
            tap.command(ranks, tap.WARPDECK, "run", "l.toml", "--output", "out",
                        "--resume", "auto", *more),
            stdout=log, stderr=log, start_new_session=True)


def wait_for(path):
    """The first checkpoint: all ranks are in the loop then."""
    end = time.time() + 30
    while not os.path.exists(path) and time.time() < end:
        time.sleep(0.02)


def files():
    """Every file of the folder, with its bytes."""
    found = {}
    for name in os.listdir("out"):
        with open(os.path.join("out", name), "rb") as f:
            found[name] = f.read()
    return found


def ranks_of(child):
    """The processes of the program below mpirun."""
    found = []
    for pid in tap.below_process(child.pid):
        with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
            if f.read().strip() == os.path.basename(tap.WARPDECK)[:15]:
                found.append(pid)
    return sorted(found)


def lock_of(pid):
    """The first byte that a process has locked, by the kernel's list."""
    with open("/proc/locks", encoding="utf-8") as f:
        for line in f:
            p = line.split()
            if p[1] == "POSIX" and p[4] == str(pid) and p[3] == "WRITE":
                if int(p[5].split(":")[2]) == os.stat(LOCK).st_ino:
                    return int(p[6])
    return None


first = start()
wait_for("out/l.ckpt.1.h5")
os.kill(first.pid, signal.SIGSTOP)  # its files stand still
before = files()
begin = time.time()
refused = tap.run(tap.WARPDECK, "run", "l.toml", "--output", "out",
                  "--overwrite", check=False)
took = time.time() - begin
tap.is_(refused.returncode, 1, "a second run in the folder ends with status 1")
tap.ok(f"process {first.pid} on host {socket.gethostname()}" in refused.stderr
       and LOCK in refused.stderr,
       "with process, host and file of the first")
tap.is_(len(refused.stderr.strip().splitlines()), 2,
        "in one line and one that says what to do")
tap.note(refused.stderr)
tap.ok(took < 20, "after some seconds")
tap.is_(files(), before, "and no byte in the folder has changed")
other = tap.run(tap.WARPDECK, "run", "l.toml", "output.name=other", "--output",
                "out", "md.steps=10", check=False)
tap.is_(other.returncode, 0, "another name in the same folder is no conflict")
os.kill(first.pid, signal.SIGCONT)
tap.kill(first)
tap.ok(os.path.exists(LOCK), "a killed run leaves the file")
begin = time.time()
late = tap.run(tap.WARPDECK, "run", "l.toml", "--output", "out", "--resume",
               "auto", "--wall-time", "0:00:02", check=False)
tap.is_(late.returncode, 75, "which holds up nobody")
tap.ok("waiting" not in late.stdout, "nor does the next wait for it")
tap.ok(not os.path.exists(LOCK), "and goes with a run that ends")

if tap.have_mpi() and os.path.exists("/proc/locks"):
    for name in ("out/l.ckpt.0.h5", "out/l.ckpt.1.h5"):
        os.remove(name)
    os.remove("out/l.h5")
    first = start(2)
    wait_for("out/l.ckpt.1.h5")
    ranks = {lock_of(pid): pid for pid in ranks_of(first)}
    tap.is_(sorted(ranks, key=str), [0, 1], "each rank has a byte of the lock")
    tap.kill(first)
    # This process plays a rank that hangs in the system for a while.
    with open(LOCK, "r+b") as held:
        fcntl.lockf(held, fcntl.LOCK_EX, 1, 1)
        second = start(1, "--wall-time", "0:00:06")
        time.sleep(3)
    second.wait()
    with open("child.log", encoding="utf-8") as log:
        tap.ok("waiting for a run to end" in log.read(),
               "a rank that outlives its run is waited for")
    tap.is_(second.returncode, 75, "and the run goes on when it is gone")
else:
    tap.skip(3, "built without MPI")
tap.done()
