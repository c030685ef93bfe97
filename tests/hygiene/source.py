"""Habits that every source file keeps."""

import os
import re

import tap
import tree

CODE = (".c", ".h", ".cpp", ".cu", ".cuh", ".def")
LIBRARY = ("src", "solvers", "kernels")


def grep(paths, pattern, read=tree.text):
    regex = re.compile(pattern)
    return [f"{path}:{number}: {line.strip()[:120]}" for path in paths
            for number, line in enumerate(read(path).split("\n"), 1)
            if regex.search(line)]


library = [p for p in tree.files(*CODE, under=LIBRARY)
           if p != "src/driver/main.c"]
# One rank alone cannot leave: main() asks comm_mpi.c to end all of them.
tree.report(grep(library, r"\b(abort|exit|_exit|_Exit|quick_exit|assert"
                 r")\s*\(", tree.code)
            + grep([p for p in library if p != "src/base/comm_mpi.c"],
                   r"^\s+(MPI_Abort|comm_abort)\s*\(", tree.code),
            "nothing below main() ends the process")
tree.report(grep(library, r"\b(strcpy|strcat|sprintf|vsprintf|gets|atoi|atof|"
                 r"strtok|rand|srand|alloca)\s*\(", tree.code),
            "no call without a bound, an error or a seed")

written = tree.files()
tree.report(grep(written, r"\b(T[O]DO|F[I]XME|X[X]X)\b|not yet (?=implemented)"),
            "nothing is left to be done")
tree.report(grep(written, r"(?<![\w.$})~*?])/(?:home|root|work|mnt|srv|opt)/"),
            "no path of somebody's machine")
tree.report(grep(written, r"(?i)\b(issue|ticket|bug) ?#? ?[0-9]+\b|"
                 r"\bthis (?=session\b)"),
            "texts stand on their own")
tree.report(grep([p for p in written if not p.endswith((".am", ".mk"))
                  and os.path.basename(p) != "bootstrap"], r"[ \t]+$"),
            "no line ends in blanks")
tree.report([p for p in written if tree.text(p)
             and not tree.text(p).endswith("\n")],
            "every file ends with a line break")

# One file, one idea: from 500 lines on it should be looked at.
lengths = {p: tree.text(p).count("\n")
           for p in tree.files(*CODE, ".py", ".sh")}
for path, n in lengths.items():
    if 500 < n <= 600:
        tap.note(f"warning: {path} has {n} lines; are these two ideas?")
tree.report([f"{p}: {n} lines" for p, n in lengths.items() if n > 600],
            "no file is longer than 600 lines")

undescribed = []
for path in tree.files(".h", ".def"):
    head = tree.text(path).lstrip()
    if path.startswith("packaging"):  # a .def of Apptainer
        continue
    if not head.startswith("/*"):
        undescribed.append(path)
tree.report(undescribed, "every header opens with why it exists")

# A header can be included alone and twice.
tree.report([p for p in tree.files(".h")
             if not re.search(r"#ifndef (\w+)\n#define \1\b|#pragma once|"
                              r"included (several times|more than once)",
                              tree.text(p))],
            "every header has a guard")

# A test that no make fragment names is never run.
fragments = "".join(tree.text(p) for p in tree.files(".mk", under=("tests",)))
scripts = [p for p in tree.files(".py", ".sh", ".c", under=("tests",))
           if not re.search(re.escape(re.sub(r"\.c$", "", p)), fragments)]
tree.report(scripts, "every file of the tests stands in a make fragment")
tap.done()
