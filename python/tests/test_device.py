"""Devices of a real network from Python: two processes over TCP, rows from frames and callables, daemons that end."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

from fedkm import CommandError, Device, FedKMeans
from fedkm.analysis import write_csv
from fedkm.command import run_command

#: One device, as a process: it links the others, and says what it found.
SIDE = """
import pathlib, sys, time
import numpy as np
from fedkm import Device

own, others, folder = sys.argv[1], sys.argv[2].split(","), pathlib.Path(sys.argv[3])
rows = np.load(folder / f"{own}.npy")
device = Device(folder / "study.yaml", lambda: np.array_split(rows, 3), folder / own)
(folder / f"{own}.part").write_text(device.invite)
(folder / f"{own}.part").rename(folder / f"{own}.invite")


def when_there(name):
    while not (folder / name).exists():
        time.sleep(0.05)
    return (folder / name).read_text()


for other in others:
    device.link(when_there(f"{other}.invite"), name=other, accept="open")
with device:
    device.wait("settled", timeout=300)
    (folder / f"{own}.settled").touch()
    for other in others:
        when_there(f"{other}.settled")
np.save(folder / f"{own}.centers.npy", device.model().device_centers_[0])
np.save(folder / f"{own}.labels.npy", device.labels())
device.report(folder / f"{own}.html")
"""


class Devices(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.study = self.folder / "study.yaml"
        run_command("study", "init", k=3, feature=["x1:0:10", "x2:0:10"], privacy="open", out=self.study)

    def rows(self, seed):
        random = np.random.default_rng(seed)
        return np.clip(random.normal(size=(90, 2)) * 0.6 + np.repeat([[1, 1], [8, 2], [4, 8]], 30, axis=0), 0, 10)

    def run_sides(self, names):
        """A process for each device; returns their rows."""
        tables = [self.rows(seed) for seed in range(len(names))]
        for name, rows in zip(names, tables):
            np.save(self.folder / f"{name}.npy", rows)
        others = {own: ",".join(name for name in names if name != own) for own in names}
        sides = [subprocess.Popen([sys.executable, "-c", SIDE, own, others[own], str(self.folder)]) for own in names]
        self.assertEqual([side.wait(400) for side in sides], [0] * len(names))
        return tables

    def test_processes_over_tcp_find_shared_clusters_to_the_bit_of_fit(self):
        names = ["north", "south", "west"]
        flags = {"k": 3, "feature": ["x1:0:10", "x2:0:10"], "privacy": "open", "clusters": "shared"}
        self.study.unlink()
        run_command("study", "init", **flags, out=self.study)
        tables = self.run_sides(names)
        files = [self.folder / f"{name}.csv" for name in names]
        for file, rows in zip(files, tables):
            write_csv(file, rows, ["x1", "x2"])
        run_command("fit", *files, study=self.study, out=self.folder / "results")
        expected = json.loads((self.folder / "results" / "model.json").read_text())["devices"][0]["centroids"]
        pooled = FedKMeans(3, method="pooled").fit(tables)
        for name, rows in zip(names, tables):
            centers = np.load(self.folder / f"{name}.centers.npy")
            np.testing.assert_array_equal(centers, expected)
            apart = np.abs(centers[:, None] - pooled.device_centers_[0]).max(axis=2)
            self.assertLess(apart.min(axis=1).max(), 1e-9)
            self.assertEqual(len(np.load(self.folder / f"{name}.labels.npy")), len(rows))

    def test_two_processes_over_tcp_find_what_fit_finds(self):
        names = ["north", "south"]
        tables = self.run_sides(names)
        model = FedKMeans(3, alpha=1, weighting="device").fit(tables)
        for i, name in enumerate(names):
            centers = np.load(self.folder / f"{name}.centers.npy")
            apart = np.abs(centers[:, None] - model.device_centers_[i]).max(axis=2)
            # A device stops sending at moves below 1.5e-7 of the bounds' range, so it stops that near.
            self.assertLess(apart.min(axis=1).max(), 2e-5)
            labels = np.load(self.folder / f"{name}.labels.npy")
            np.testing.assert_array_equal(apart.argmin(axis=1)[labels], model.labels_[i])
            self.assertIn("<table>", (self.folder / f"{name}.html").read_text())

    def test_a_daemon_that_ended_is_named_and_rows_are_private_to_their_owner(self):
        device = Device(self.study, self.rows(0), self.folder / "alone")
        self.assertEqual((self.folder / "alone.rows.csv").stat().st_mode & 0o077, 0)
        with self.assertRaisesRegex(CommandError, "the device must run, got one that has ended: it was not started"):
            device.wait()
        with self.assertRaisesRegex(ValueError, "must be the folder of a device that has run"):
            Device(self.study, self.rows(0), self.folder / "alone").status()
        (self.folder / "alone" / "study.yaml").write_text("k: none\n")
        with device, self.assertRaisesRegex(CommandError, "the device must run, got one that has ended: .*study"):
            device.wait()
        with self.assertRaisesRegex(ValueError, "k must be"):
            run_command("study", "init", k=0, out=self.folder / "other.yaml")


if __name__ == "__main__":
    unittest.main()
