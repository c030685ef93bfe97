"""Open a result file, which may have another name for a moment, belong to another
program, or be cut off."""

import os
import re
import time

import h5py

from .errors import PostError

FORMAT_VERSION = 1  # the newest that this program knows


def text_of(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else (
        str(value))


def _why_not_open(path, error):
    reason = " ".join(str(error).split())
    cut = re.search(r"eof = (\d+).*stored_eof = (\d+)", reason)
    if cut:
        return (f"'{path}' is cut off: {cut[1]} of {cut[2]} bytes are there; "
                "copy it again, or run again")
    if "signature" in reason:
        return f"'{path}' is not an HDF5 file"
    if "lock" in reason:
        return (f"'{path}' is locked by another program; set "
                "HDF5_USE_FILE_LOCKING=FALSE to read it in spite of that")
    return f"'{path}' cannot be opened: {reason}"


def where_is(path):
    """The name that a file has now: a run calls it PATH.tmp for the moments in
    which it writes to it; one that was killed then has left it so."""
    beside, until = path + ".tmp", time.monotonic() + 1.0
    while not os.path.exists(path) and os.path.exists(beside):
        if time.monotonic() > until:
            return beside
        time.sleep(0.01)
    return path


def changed(path):
    """When it was last written to."""
    while True:
        try:
            return os.path.getmtime(where_is(path))
        except FileNotFoundError:  # steps aside just now
            if not is_there(path):
                raise


def is_there(path):
    """Under one of its names, also where it changes it meanwhile: between two
    looks it may have changed it and back."""
    for _ in range(20):
        if os.path.exists(path) or os.path.exists(path + ".tmp"):
            return True
        time.sleep(0.001)
    return False


def refuse_itself(path, output):
    """An error where the output would replace what it is made of."""
    now = where_is(path)
    if os.path.exists(output) and os.path.exists(now) and os.path.samefile(
            now, output):
        raise PostError("the output would replace the file itself")


def open_file(path):
    """The file as h5py.File, or a PostError that says why not."""
    until = time.monotonic() + 1.0
    while True:
        now = where_is(path)
        try:
            return _open(now) if now == path else _open_left(path, now)
        except PostError:
            # It may just have changed its name.
            if (os.path.exists(now) or not is_there(path)
                    or time.monotonic() > until):
                raise


def _open_left(asked, path):
    try:
        return _open(path)
    except PostError as error:
        raise PostError(f"{error}; '{asked}' has this name since its run was "
                        "killed while it wrote: warpdeck run --resume auto "
                        "mends it") from None


def _open(path):
    if not os.path.exists(path):
        raise PostError(f"there is no file '{path}'")
    if not os.path.isfile(path):
        raise PostError(f"'{path}' is not a file")
    if not os.access(path, os.R_OK):
        raise PostError(f"'{path}' may not be read (permissions)")
    try:
        f = h5py.File(path, "r")
    except OSError as error:
        raise PostError(_why_not_open(path, error)) from None
    try:
        _check_ours(path, f)
    except PostError:
        f.close()
        raise
    return f


def _check_ours(path, f):
    if text_of(f.attrs.get("suite", "")) != "Warpdeck":
        raise PostError(f"'{path}' is an HDF5 file, but not one of Warpdeck's")
    version = int(f.attrs.get("format_version", 0))
    if version > FORMAT_VERSION:
        raise PostError(
            f"'{path}' has format {version}, of Warpdeck "
            f"{text_of(f.attrs.get('version', '?'))}; this warpdeck-post reads "
            f"formats up to {FORMAT_VERSION}: use the newer one")
    if "run" not in f or not {"h5md", "observables", "VTKHDF"} & set(f):
        raise PostError(f"'{path}' lacks the groups of a result file")
