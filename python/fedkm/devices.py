"""What may be given as data and as graph, made into one matrix for each device and links between them."""

import numpy as np


class Devices:
    """Matrices by device, and the way back from answers by device to the form in which the data were given."""

    def __init__(self, names, matrices, rows_of=None):
        self.names = names
        self.matrices = matrices
        # Of one table: for each device the numbers of its rows. None: the data were a list, and so are answers.
        self._rows_of = rows_of

    def like_given(self, answers):
        """One array for each device, as one array in the order of the table, or as a list."""
        if self._rows_of is None:
            return answers
        size = sum(len(rows) for rows in self._rows_of)
        first = answers[0]
        whole = np.empty((size, *first.shape[1:]), dtype=first.dtype)
        for rows, answer in zip(self._rows_of, answers):
            whole[rows] = answer
        return whole


def devices_of(data, device_column=None):
    """A list or dict of tables, a device each; or one table, split by its device column if there is one."""
    if hasattr(data, "toarray"):
        raise TypeError("X must be dense, got a sparse matrix: use X.toarray()")
    if isinstance(data, dict):
        return Devices(list(data), [matrix_of(table, f"X[{name!r}]") for name, table in data.items()])
    if is_list_of_tables(data):
        return Devices(list(range(len(data))), [matrix_of(table, f"X[{i}]") for i, table in enumerate(data)])
    if device_column is None:
        points = matrix_of(data, "X")
        return Devices([0], [points], [np.arange(len(points))])
    return _split(data, device_column)


def is_list_of_tables(data):
    """Whether each entry is a table of its own. Lists of lists of numbers are one table, as everywhere in Python."""
    return isinstance(data, (list, tuple)) and len(data) > 0 and all(np.ndim(_values(table)) == 2 for table in data)


def _values(table):
    return table if hasattr(table, "shape") else np.asarray(table, dtype=object)


def _split(table, device_column):
    if hasattr(table, "columns"):
        if device_column not in table.columns:
            raise ValueError(f"device_column must be a column of X, got {device_column!r}")
        given = np.asarray(table[device_column])
        features = table.drop(columns=[device_column])
    else:
        whole = np.asarray(table)
        if whole.ndim != 2 or not isinstance(device_column, int) or not 0 <= device_column < whole.shape[1]:
            raise ValueError(f"device_column must be the number of a column of X, got {device_column!r}")
        given = whole[:, device_column]
        features = np.delete(whole, device_column, axis=1)
    if any(value is None or value != value for value in given):
        raise ValueError(f"column {device_column!r} must name a device in every row, got a missing cell")
    points = matrix_of(features, "X")
    names, number = np.unique(given, return_inverse=True)
    rows_of = [np.flatnonzero(number == i) for i in range(len(names))]
    return Devices(names.tolist(), [points[rows] for rows in rows_of], rows_of)


def matrix_of(table, name):
    """A table as a matrix of doubles."""
    values = np.asarray(table)
    if np.iscomplexobj(values):
        raise ValueError(f"Complex data not supported: {name} must hold real numbers")
    try:
        values = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} must hold numbers: {error}") from error
    if values.ndim != 2:
        hint = "Reshape your data: one row for each sample, one column for each feature"
        raise ValueError(f"{name} must have rows and columns, got {values.ndim} dimension(s). {hint}")
    if values.shape[0] == 0:
        raise ValueError(f"{name} must have rows, got 0 sample(s)")
    if values.shape[1] == 0:
        # The words that scikit-learn's own check looks for.
        got = f"0 feature(s) (shape={values.shape}) while a minimum of 1 is required."
        raise ValueError(f"{name} must have columns, got {got}")
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        got = "NaN" if np.isnan(values[row, column]) else "inf"
        raise ValueError(f"{name} must hold finite numbers, got {got} at row {row}, column {column}")
    return values


def column_names(data):
    """The names of a table's columns where all are texts, as scikit-learn has it; otherwise None."""
    names = getattr(data, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return np.asarray(names, dtype=object)


def links_of(graph, names):
    """A rule as it is; a networkx graph or a matrix of weights as links between the numbers of the devices."""
    if isinstance(graph, str):
        return graph
    if hasattr(graph, "edges"):
        number = {name: i for i, name in enumerate(names)}
        for node in graph.nodes:
            if node not in number:
                raise ValueError(f"graph must have the devices as nodes ({names}), got {node!r}")
        return [[number[i], number[j], float(data.get("weight", 1))] for i, j, data in graph.edges(data=True)]
    weights = np.asarray(graph, dtype=np.float64)
    size = len(names)
    if weights.shape != (size, size) or not (weights == weights.T).all():
        raise ValueError(f"graph must be a symmetric matrix of {size} x {size} weights, got shape {weights.shape}")
    return [[int(i), int(j), float(weights[i, j])] for i, j in np.argwhere(np.triu(weights, 1) != 0)]
