"""Writes iris.csv and digits.txt: two small public sets of the UCI repository (CC BY 4.0), as scikit-learn ships them.

Run with any Python that has scikit-learn (Debian: python3-sklearn):

    python3 experiments/data/make.py
"""

from pathlib import Path

from sklearn.datasets import load_digits, load_iris

here = Path(__file__).parent

iris = load_iris()
names = [name.removesuffix(" (cm)").replace(" ", "_") for name in iris.feature_names]
rows = [",".join([*map(str, point), str(label)]) for point, label in zip(iris.data, iris.target)]
(here / "iris.csv").write_text("\n".join([",".join([*names, "species"]), *rows, ""]))

# One line for each picture: the digit, a space, and 8 x 8 grey levels from 0 to 16 as one character each (g is 16).
digits = load_digits()
lines = [f"{label} " + "".join("0123456789abcdefg"[int(x)] for x in point) for point, label in zip(digits.data, digits.target)]
(here / "digits.txt").write_text("\n".join([*lines, ""]))
