# timeout: 60
"""Recipes for clusters say what the project says: options that configure knows,
packages that quickstart installs, paths of the installation."""

import ast
import os
import re
import subprocess

import tap


def read(*path):
    with open(os.path.join(tap.TOP_SRCDIR, *path), encoding="utf-8") as f:
        return f.read()


# ---- Spack ----
recipe = read("packaging", "spack", "packages", "warpdeck", "package.py")
tree = ast.parse(recipe)
tap.ok(True, "the Spack recipe is Python")
told = subprocess.run(
    ["sh", os.path.join(tap.TOP_SRCDIR, "configure"), "--help"],
    stdout=subprocess.PIPE, text=True, check=True).stdout
# --with-x and --without-x are one option, help shows one of them.
known = {re.sub("^with(out)?-", "", o)
         for o in re.findall(r"^  --(with(?:out)?-[a-z0-9-]+)", told, re.M)}
variables = set(re.findall(r"^  ([A-Z][A-Z_0-9]+)\s", told, re.M))
texts = [n.value for n in ast.walk(tree)
         if isinstance(n, ast.Constant) and isinstance(n.value, str)]
options = [re.sub("^--with(out)?-", "", t).rstrip("=") for t in texts
           if re.fullmatch(r"--with(out)?-[a-z0-9-]+=?", t)]
tap.ok(len(options) >= 3, "it gives options to configure")
tap.is_([o for o in options if o not in known], [],
        "each of which configure --help has")
set_here = [t[:-1] for t in texts if re.fullmatch(r"[A-Z][A-Z_0-9]+=", t)]
tap.ok(len(set_here) >= 2, "and variables")
tap.is_([v for v in set_here if v not in variables], [], "which it has, too")
variants = [n.args[0].value for n in ast.walk(tree)
            if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "variant"]
used = set(re.findall(r'"[+~]([a-z]+)"', recipe)) - {"cuda"}
tap.is_(sorted(used), sorted(variants), "every variant is declared and used")
version = re.search(r"AC_INIT\(\[Warpdeck\], \[([^]]+)\]",
                    read("configure.ac")).group(1)
tap.ok(f'version("{version}")' in recipe and f"warpdeck-{version}.tar" in recipe,
       "the version is that of configure.ac")

# ---- options that are none ----


def configure(*options):
    """What it says, where it gets no further than to the compiler."""
    done = subprocess.run(
        ["sh", os.path.join(tap.TOP_SRCDIR, "configure"), "CC=false", *options],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


for option in ("--enable-sanitizers", "--with-cudda", "--without-mpy"):
    status, said = configure(option + ("=/usr" if "cudda" in option else ""))
    tap.ok(status == 1 and f"error: there is no option {option};" in said,
           f"configure refuses {option}")
# Of Debian's dh_auto_configure, Homebrew, Nix and Libtool's packages.
status, said = configure(
    "--disable-dependency-tracking", "--disable-silent-rules",
    "--disable-maintainer-mode", "--disable-debug", "--enable-shared",
    "--disable-static", "--with-gnu-ld", "--enable-option-checking",
    "--runstatedir=/run", "--build=x86_64-linux-gnu")
tap.ok("there is no option" not in said and "compiler" in said,
       "but not what packagers give to all of them")
status, said = configure("--enable-sanitizers", "--disable-option-checking")
tap.ok("there is no option" not in said and "compiler" in said,
       "nor anything with --disable-option-checking")

# ---- Apptainer ----
image = read("packaging", "apptainer", "warpdeck.def")
wanted = re.search(r'^needed="([^"]+)"', read("quickstart"), re.M).group(1)
listed = re.search(r"apt-get install -y --no-install-recommends \\\n(.*?[^\\])\n",
                   image, re.S).group(1).replace("\\\n", " ").split()
tap.is_(sorted(set(wanted.split()) - set(listed)), [],
        "the image gets every package of quickstart")
# What a bare image lacks and a Debian machine has.
tap.is_(sorted(set(listed) - set(wanted.split())),
        ["ca-certificates", "xz-utils"], "and nothing else but what unpacks")
tap.ok(f"warpdeck-{version}.tar.xz" in image, "and this version")
used = re.findall(r"--(with(?:out)?-[a-z]+)", image)
tap.is_([o for o in used if re.sub("^with(out)?-", "", o) not in known], [],
        "built with options that configure has")
sections = re.findall(r"^%(\w+)", image, re.M)
tap.is_(sections, ["files", "post", "environment", "runscript", "test"],
        "in the sections of a definition file")

# ---- module file ----
made = os.path.join(tap.TOP_BUILDDIR, "packaging", "modulefile", version)
with open(made, encoding="utf-8") as f:
    module = f.read()
tap.ok(module.startswith("#%Module") and "@" not in module,
       "the module file is filled in")
paths = dict(re.findall(r"^prepend-path (\w+) (\S+)", module, re.M))
tap.is_([k for k in ("PATH", "MANPATH") if not os.path.isabs(paths.get(k, ""))],
        [], "with whole paths of programs and manual pages")
tap.done()
