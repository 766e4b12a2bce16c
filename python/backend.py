"""Builds the wheel with Python alone, so that pip installs it without a network, setuptools or wheel."""

import base64
import hashlib
import pathlib
import re
import zipfile

_FOLDER = pathlib.Path(__file__).parent
_VERSION = re.search(r'__version__ = "(.+)"', (_FOLDER / "fedkm/__init__.py").read_text("utf-8"))[1]

_METADATA = f"""Metadata-Version: 2.1
Name: fedkm
Version: {_VERSION}
Summary: Federated k-means over networks, as a scikit-learn style estimator that speaks to the fedkm command
License: MIT
Requires-Python: >=3.9
Requires-Dist: numpy>=1.22
Description-Content-Type: text/markdown

"""


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The hook of PEP 517 that pip calls; the name of the wheel is its answer."""
    info = f"fedkm-{_VERSION}.dist-info"
    files = {f"fedkm/{path.name}": path.read_bytes() for path in sorted((_FOLDER / "fedkm").glob("*.py"))}
    files[f"{info}/LICENSE"] = (_FOLDER / "LICENSE").read_bytes()
    files[f"{info}/METADATA"] = _METADATA.encode() + (_FOLDER / "README.md").read_bytes()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: fedkm\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = [f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in files.items()]
    files[f"{info}/RECORD"] = "".join([*record, f"{info}/RECORD,,\n"]).encode()
    wheel = f"fedkm-{_VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            # A fixed time, so that the same sources give the same bytes.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return wheel


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
