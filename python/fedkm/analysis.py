"""Questions about the same tables that ``FedKMeans`` takes: how many clusters, which method, what neighbours can learn."""

import contextlib
import json
import pathlib
import re
import tempfile

import numpy as np

from .command import run_command
from .devices import devices_of, links_of


def choose_k(X, *, device_column=None, graph="complete", random_state=1, **options):
    """How many clusters there are and how strongly to couple the devices: the answer of ``fedkm choose``.

    ``k`` and ``alpha`` of the answer are the choice, ``clusters`` and ``coupling`` have the curves. Options are the flags
    of the command, such as ``k=8`` (the largest that is tried) or ``judge="all"``.
    """
    with _files(X, device_column, graph) as (folder, files, links):
        flags = {"as_is": True, **options, "graph": links, "seed": random_state, "out": folder / "choice.svg"}
        return _without_files(json.loads(run_command("choose", *files, json=True, **flags)))


def compare(X, n_clusters, *, device_column=None, graph="complete", random_state=1, **options):
    """All methods on the same tables, network and message budget: the answer of ``fedkm compare``.

    ``sentence`` says who wins, and ``standings`` has an entry for each method. Options are the flags of the command, such as ``method="fedkm,consensus"``,
    ``runs=3`` or ``messages=500``. One table is dealt to ``devices=10``.
    """
    with _files(X, device_column, graph) as (folder, files, links):
        flags = {**options, "k": n_clusters, "graph": links, "seed": random_state, "out": folder / "compare.svg"}
        return _without_files(json.loads(run_command("compare", *files, json=True, **flags)))


def audit(X=None, *, study=None, privacy=None, runs=200, random_state=1, device_column=None):
    """Attacks simulated networks, and says what neighbours of a device can learn: the answer of ``fedkm audit``.

    With a study file the devices have the rows of ``X``; without, rows are drawn.
    """
    asked = {"study": study, "privacy": privacy, "runs": runs, "seed": random_state, "json": True}
    if X is None:
        return json.loads(run_command("audit", **asked))
    with _files(X, device_column, "complete") as (_, files, __):
        return json.loads(run_command("audit", data=files, **asked))


@contextlib.contextmanager
def _files(X, device_column, graph):
    """The tables as files of a folder that is gone afterwards, and the links as the command takes them."""
    devices = devices_of(X, device_column)
    columns = devices.columns or [f"x{c + 1}" for c in range(devices.matrices[0].shape[1])]
    with tempfile.TemporaryDirectory(prefix="fedkm-") as name:
        folder = pathlib.Path(name)
        files = [folder / f"{_file_name(name, i)}.csv" for i, name in enumerate(devices.names)]
        for file, rows in zip(files, devices.matrices):
            write_csv(file, rows, columns)
        links = links_of(graph, devices.names)
        if not isinstance(links, str):
            ends = [f"{files[i].stem},{files[j].stem},{weight!r}\n" for i, j, weight in links]
            links = folder / "links"
            links.write_text("".join(["from,to,weight\n", *ends]), "utf-8")
        yield folder, files, links


def _file_name(name, number):
    """The name of the device where it can be that of a file, else its number."""
    return name if isinstance(name, str) and re.fullmatch(r"\w[\w -]*", name) else str(number)


def write_csv(file, rows, columns):
    """Numbers as texts that give the same bits when they are read."""
    quoted = ['"' + str(name).replace('"', '""') + '"' for name in columns]
    lines = [",".join(quoted), *(",".join(map(repr, row)) for row in np.asarray(rows, dtype=np.float64).tolist())]
    pathlib.Path(file).write_text("\n".join(lines) + "\n", "utf-8")


def _without_files(answer):
    """Neither a picture in a folder that is gone nor a command line about files in it."""
    return {name: value for name, value in answer.items() if name not in ("picture", "command", "decisions", "watched")}
