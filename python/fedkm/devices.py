"""What may be given as data and as graph, made into one matrix for each device and links between them."""

import warnings

import numpy as np


class Devices:
    """Matrices by device, and the way back from answers by device to the form in which the data were given."""

    def __init__(self, names, matrices, columns, rows_of=None):
        self.names = names
        self.matrices = matrices
        #: The names of the columns of all matrices, in their order, or None.
        self.columns = columns
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

    def weights(self, given):
        """Weights of rows, in the form of the data, as one column for each device."""
        if self._rows_of is None:
            if isinstance(given, dict):
                if set(given) != set(self.names):
                    raise ValueError(f"sample_weight must have the devices {self.names}, got {list(given)}")
                given = [given[name] for name in self.names]
            if not hasattr(given, "__len__") or len(given) != len(self.names):
                raise ValueError(f"sample_weight must have one array for each of {len(self.names)} devices")
            return [_weights_of(own, len(rows)) for own, rows in zip(given, self.matrices)]
        whole = _weights_of(given, sum(len(rows) for rows in self._rows_of))
        return [whole[rows] for rows in self._rows_of]


def _weights_of(given, rows):
    try:
        weights = np.asarray(np.nan if given is None else given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must hold finite numbers of at least 0, got something else") from None
    if weights.ndim == 0:
        weights = np.full(rows, weights)
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim} dimensions")
    if len(weights) != rows:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(rows,)}!")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("sample_weight must hold finite numbers of at least 0")
    return weights.reshape(-1, 1)


def devices_of(data, device_column=None, columns=None):
    """A list or dict of tables, a device each; or one table, split by its device column if there is one.

    Columns are taken by name: in the order of ``columns``, or of the first table that has names.
    """
    # Some sparse matrices are dictionaries.
    if hasattr(data, "toarray") or not has_tables(data):
        _refuse_others(data)
        return _split(data, device_column, columns)
    tables = data if isinstance(data, dict) else dict(enumerate(data))
    if len(tables) == 0:
        raise ValueError("X must have tables, got an empty dict")
    if columns is None:
        columns = next(filter(None, map(column_names, tables.values())), None)
    matrices = [aligned(table, f"X[{name!r}]", columns) for name, table in tables.items()]
    return Devices(list(tables), matrices, columns)


def has_tables(data):
    """Whether each entry is a table of its own. Lists of lists of numbers are one table, as everywhere in Python."""
    if isinstance(data, dict):
        return True
    return isinstance(data, (list, tuple)) and any(_dimensions(table) == 2 for table in data)


def _dimensions(table):
    if hasattr(table, "shape"):
        return len(table.shape)
    is_list = isinstance(table, (list, tuple))
    return 2 if is_list and any(isinstance(row, (list, tuple, np.ndarray)) for row in table) else int(is_list)


def _refuse_others(data):
    """What is no table, although numpy might find numbers in it."""
    if hasattr(data, "toarray"):
        raise TypeError("X must be dense, got a sparse matrix: use X.toarray()")
    if isinstance(data, (list, tuple)):
        if len(data) == 0:
            raise ValueError("X must have rows or tables, got an empty list: 0 sample(s)")
        if hasattr(data[0], "iloc") or isinstance(data[0], str):
            raise ValueError(f"X[0] must be a table or a row of numbers, got {type(data[0]).__name__}")
    elif not hasattr(data, "__array__"):
        raise TypeError(f"X must be a table, or a list or dict of tables, got {type(data).__name__}")


def _split(table, device_column, columns):
    if device_column is None:
        points = aligned(table, "X", columns)
        return Devices([0], [points], columns or column_names(table), [np.arange(len(points))])
    columns_of_table = column_names(table)
    if columns_of_table is not None:
        if device_column not in columns_of_table:
            raise ValueError(f"device_column must be a column of X, got {device_column!r}")
        given = np.asarray(table[device_column])
        features = without_column(table, device_column)
    else:
        whole = np.asarray(table)
        is_number = isinstance(device_column, (int, np.integer)) and not isinstance(device_column, bool)
        if whole.ndim != 2 or not is_number or not 0 <= device_column < whole.shape[1]:
            raise ValueError(f"device_column must be the number of a column of X, got {device_column!r}")
        given = whole[:, device_column]
        features = np.delete(whole, device_column, axis=1)
    if any(value is None or value != value for value in given):
        raise ValueError(f"column {device_column!r} must name a device in every row, got a missing cell")
    points = aligned(features, "X", columns)
    names, number = np.unique(given, return_inverse=True)
    rows_of = [np.flatnonzero(number == i) for i in range(len(names))]
    matrices = [points[rows] for rows in rows_of]
    return Devices(names.tolist(), matrices, columns or column_names(features), rows_of)


def without_column(table, column):
    """The other columns of a frame, of pandas or of another library."""
    return table[[name for name in column_names(table) if name != column]]


def aligned(table, name, columns):
    """A table as a matrix whose columns are in the order of ``columns``, whatever their order in the table."""
    names = column_names(table)
    matrix = matrix_of(table, name)
    if names is None or columns is None:
        if columns is not None:
            warnings.warn(f"{name} does not have valid feature names: its columns are taken as {_few(columns)}")
        return matrix
    if names == columns:
        return matrix
    unseen, missing = set(names) - set(columns), set(columns) - set(names)
    if unseen or missing:
        got = " but ".join(f"{word} {_few(sorted(some))}" for word, some in (("no", missing), ("also", unseen)) if some)
        raise ValueError(f"{name} must have the columns {_few(columns)}, got {got}")
    if len(names) != len(columns) or len(set(names)) < len(names):
        raise ValueError(f"{name} must have columns of different names, got {_few(names)}")
    return matrix[:, [names.index(column) for column in columns]]


def check_order(table, columns):
    """Refuses other names than ``columns`` and another order, in the words that scikit-learn's own check looks for."""
    names = column_names(table)
    if names is None or columns is None or names == columns:
        return
    unseen, missing = sorted(set(names) - set(columns)), sorted(set(columns) - set(names))
    lines = ["The feature names should match those that were passed during fit."]
    for heading, some in [
        ("Feature names unseen at fit time:", unseen),
        ("Feature names seen at fit time, yet now missing:", missing),
    ]:
        if some:
            lines += [heading, *(f"- {name}" for name in some[:5]), *["- ..."] * (len(some) > 5)]
    if not unseen and not missing:
        lines.append("Feature names must be in the same order as they were in fit.")
    raise ValueError("\n".join(lines) + "\n")


def _few(names):
    return ", ".join([repr(name) for name in names[:5]] + ["..."] * (len(names) > 5))


def matrix_of(table, name):
    """A table as a matrix of doubles."""
    if hasattr(table, "toarray"):
        raise TypeError(f"{name} must be dense, got a sparse matrix: use {name}.toarray()")
    try:
        values = np.asarray(table)
    except ValueError as error:
        raise ValueError(_number_fault(table, name, error)) from error
    if np.iscomplexobj(values):
        raise ValueError(f"Complex data not supported: {name} must hold real numbers")
    if values.dtype.kind in "mM":
        raise TypeError(f"{name} must hold numbers, got dates or times")
    try:
        values = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(_number_fault(table, name, error)) from error
    if np.ma.is_masked(table):
        values = np.where(np.ma.getmaskarray(table), np.nan, values)
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


def _number_fault(table, name, error):
    """Where a table has no number, as far as that can be said."""
    rows = table if isinstance(table, (list, tuple)) else np.atleast_1d(np.asarray(table, dtype=object))
    width = len(rows[0]) if isinstance(rows[0], (list, tuple)) else None
    for r, row in enumerate(rows):
        if width is not None and (not isinstance(row, (list, tuple)) or len(row) != width):
            return f"{name} must have {width} numbers in every row (as the first), got another number in row {r}"
        for c, value in enumerate(row if np.ndim(row) == 1 else []):
            # Of pandas: a cell that is missing in a column that can have such.
            if type(value).__name__ == "NAType":
                return f"{name} must hold finite numbers, got a missing cell at row {r}, column {c}"
    return f"{name} must hold numbers: {error}"


def column_names(table):
    """The names of a table's columns where all are texts, as scikit-learn has it; otherwise None."""
    names = getattr(table, "columns", [])
    # Tables of Arrow have arrays under this name.
    if not hasattr(table, "iloc") and hasattr(table, "__dataframe__"):
        names = table.__dataframe__().column_names()
    names = list(names)
    texts = sum(isinstance(name, str) for name in names)
    if 0 < texts < len(names):
        raise TypeError(f"names of columns must all be texts or none, got {_few(names)}")
    return names if texts > 0 else None


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
    size = len(names)
    meant = f"graph must be a rule, a networkx graph or a symmetric matrix of {size} x {size} weights"
    try:
        weights = np.asarray(graph, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{meant}, got {graph!r}") from None
    if weights.shape != (size, size):
        raise ValueError(f"{meant}, got {f'shape {weights.shape}' if weights.ndim > 0 else repr(graph)}")
    if not (weights == weights.T).all():
        raise ValueError(f"{meant}, got weights that differ from those the other way, or are no numbers")
    return [[int(i), int(j), float(weights[i, j])] for i, j in np.argwhere(np.triu(weights, 1) != 0)]
