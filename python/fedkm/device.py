"""A device of a real network, run from Python: its rows stay on its machine, and its neighbours get centroids alone."""

import atexit
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np

from .analysis import write_csv
from .command import CommandError, run_command, start_command
from .devices import column_names, matrix_of
from .estimator import FedKMeans
from .picture import model_page


class Device:
    """One device: ``fedkm device`` with rows of Python. A ``with`` block runs it and ends it.

    Parameters
    ----------
    study : path
        The study file that all devices share (``fedkm study init``). Of a folder that is there already it is not read.
    data : frame, array, path, address of a source, or callable
        The rows, with the columns of the study. A callable returns them, or yields them in batches; ``refresh`` asks
        again. Rows of Python are written into a file beside the folder, which only its owner can read.
    state : path
        The folder of the device. It is made if it is not there.
    name, listen, announce, accept : default None
        As in ``fedkm device init``.
    """

    def __init__(self, study, data, state, *, name=None, listen=None, announce=None, accept=None):
        self.state = pathlib.Path(state)
        self._data = data
        self._process = None
        if not (self.state / "device.json").exists():
            flags = {"name": name, "listen": listen, "announce": announce, "accept": accept}
            self.state.parent.mkdir(parents=True, exist_ok=True)
            files = str(data) if isinstance(data, (str, pathlib.Path)) else self._write_rows()
            run_command("device", "init", state=self.state, study=study, data=files, **flags)
        else:
            self.refresh()

    @property
    def invite(self):
        """The line by which another device links this one."""
        line = run_command("device", "links", state=self.state).strip().splitlines()[-1]
        if not line.startswith("fedkm:"):
            raise ValueError(f"the device must have an invite, got {line}")
        return line

    def link(self, invite, name=None, accept=None):
        """Links another device by its invite. Nothing flows until it links back."""
        run_command("device", "link", invite, state=self.state, name=name, accept=accept)
        return self

    def start(self):
        """Starts the daemon. Its log goes to ``device.log`` in the folder."""
        if self._process is None or self._process.poll() is not None:
            with open(self.state / "device.log", "ab") as log:
                self._process = start_command(
                    "device", "run", "--state", self.state, stdin=subprocess.DEVNULL, stdout=log, stderr=log
                )
            atexit.register(self.stop)
        return self

    def stop(self):
        """Ends the daemon, which saves its state first."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = None
        atexit.unregister(self.stop)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def refresh(self):
        """Writes the rows anew, of a callable those that it has now. A running device sees them by itself."""
        if not isinstance(self._data, (str, pathlib.Path)):
            self._write_rows()
        return self

    def status(self):
        """How the device is doing, as ``fedkm device status --json``. It also says so of one that does not run."""
        # 3: it does not answer; 4: something is wrong. Both are answers.
        return json.loads(run_command("device", "status", state=self.state, json=True, accepts=(0, 3, 4)))

    def wait(self, phase="settled", timeout=120):
        """Waits until the device is in a phase, and returns its status. A daemon that ended is a CommandError."""
        end = time.monotonic() + timeout
        while True:
            if self._process is None or self._process.poll() is not None:
                raise CommandError(f"the device must run, got one that has ended: {self._last_line()}")
            if (self.state / "status.json").exists():
                status = self.status()
                if status["isRunning"] and status["device"]["phase"] == phase:
                    return status
            if time.monotonic() > end:
                raise TimeoutError(f"the device must be {phase} within {timeout} s, see {self.state / 'device.log'}")
            time.sleep(0.2)

    def model(self):
        """The clusters of the device as a fitted FedKMeans of one device."""
        with tempfile.TemporaryDirectory(prefix="fedkm-") as folder:
            file = pathlib.Path(folder) / "model.json"
            run_command("device", "export", state=self.state, out=file)
            return FedKMeans.load(file)

    def labels(self):
        """The cluster of every row. Of rows in files or sources ``fedkm predict`` labels them."""
        if isinstance(self._data, (str, pathlib.Path)):
            raise ValueError(f"labels must be asked of rows of Python, got {self._data}: use fedkm predict")
        model = self.model()
        rows, columns = self._rows()
        order = [columns.index(name) for name in model.feature_names_in_] if columns else range(rows.shape[1])
        return model.nearest_clusters(rows[:, order])

    def report(self, path):
        """Writes a page with the state of the device and its clusters."""
        status = json.dumps(self.status(), indent=2).replace("&", "&amp;").replace("<", "&lt;")
        page = f"<!doctype html><meta charset=utf-8><title>{self.state.name}</title>{model_page(self.model())}"
        pathlib.Path(path).write_text(f"{page}<details><summary>status</summary><pre>{status}</pre></details>", "utf-8")

    def _rows(self):
        """All rows as one matrix, with the names of its columns or None."""
        given = self._data() if callable(self._data) else self._data
        is_one = hasattr(given, "shape") or hasattr(given, "columns")
        batches = [given] if is_one or not callable(self._data) else list(given)
        columns = column_names(batches[0])
        ordered = [batch[columns] if columns else batch for batch in batches]
        return np.concatenate([matrix_of(batch, "data") for batch in ordered]), columns

    def _write_rows(self):
        rows, columns = self._rows()
        # The folder itself must be empty before the device is made.
        file = self.state.with_name(f"{self.state.name}.rows.csv")
        beside = file.with_suffix(".new")
        beside.touch(mode=0o600)
        write_csv(beside, rows, columns or [f"x{c + 1}" for c in range(rows.shape[1])])
        # At once: the daemon reads whole files only.
        beside.replace(file)
        return str(file)

    def _last_line(self):
        log = self.state / "device.log"
        lines = log.read_text("utf-8").strip().splitlines() if log.exists() else []
        return lines[-1] if lines else "it was not started"
