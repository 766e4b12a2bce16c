"""One call of a plug-in: reads a frame from standard input, asks the module that is named, and writes the answer.

A module has some of three dictionaries, methods, datasets and measures, of functions by name:

- a method takes the devices' rows as a list of arrays, the graph, k, and keywords of its own, of which alpha, seed and
  rounds are filled in; it returns the centroids of every device, and how many messages and bytes that took;
- a data set takes devices, points and seed, and returns the rows of every device, their classes or None, and k or None;
- a measure takes rows, centroids, the pooled centroids and the graph, and returns a number.
"""

import importlib.util
import inspect
import sys
from collections import namedtuple

import numpy as np

from .command import _read, _write

#: The number of devices, and the pairs that are linked.
Graph = namedtuple("Graph", ["size", "links"])


def answer(module, header, arrays):
    """The header and the arrays of the answer to one request."""
    kind = header["ask"]
    if kind == "names":
        methods = {name: _keywords(function) for name, function in getattr(module, "methods", {}).items()}
        named = {group: list(getattr(module, group, {})) for group in ("datasets", "measures")}
        return {"methods": methods, **named}, []
    if kind == "data":
        request = header["request"]
        function = module.datasets[header["name"]]
        rows, classes, k = function(request["devices"], request["pointsPerDevice"], request["seed"])
        labels = [] if classes is None else [np.asarray(own, dtype="<u4").reshape(-1, 1) for own in classes]
        return {} if k is None else {"k": int(k)}, [*map(_doubles, rows), *labels]
    graph = Graph(header["devices"], [tuple(link) for link in header["links"]])
    if kind == "method":
        function = module.methods[header["name"]]
        options = {name: value for name, value in header["options"].items() if name in _keywords(function)}
        centroids, messages, sent = function(arrays, graph, header["options"]["k"], **options)
        return {"messages": int(messages), "bytes": int(sent)}, list(map(_doubles, centroids))
    rows, centroids = arrays[: graph.size], arrays[graph.size : 2 * graph.size]
    return {"value": float(module.measures[header["name"]](rows, centroids, arrays[-1], graph))}, []


def _keywords(function):
    return list(inspect.signature(function).parameters)[3:]


def _doubles(rows):
    return np.ascontiguousarray(rows, dtype="<f8")


def main():
    spec = importlib.util.spec_from_file_location("plugin", sys.argv[1])
    output = sys.stdout.buffer
    # What the module prints must not get into the frame.
    sys.stdout = sys.stderr
    header, arrays = _read(sys.stdin.buffer)
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found = answer(module, header, arrays)
    except Exception as error:  # noqa: BLE001 - whatever went wrong is said in one line
        found = {"refusal": f"{type(error).__name__}: {error}"}, []
    _write(output, *found)
    output.flush()


if __name__ == "__main__":
    main()
