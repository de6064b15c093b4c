"""Make a conda channel on disk that holds `python`, from this machine's own CPython, and `pip`, from the wheel in it.

    python channel.py DIRECTORY PYTHON PIP

PYTHON and PIP are the versions that the two go by there.

A package is a tar archive of files and of info/index.json, info/paths.json and info/link.json; the channel's
repodata.json lists the packages with their digests. CPython names the prefix that it was built for: in text, through a
placeholder that the installation replaces; where a file looks for libpython, relative to that file.
"""

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

SKIPPED = {"test", "tests", "__pycache__", "site-packages", "idlelib", "turtledemo", "lib2to3", "ensurepip"}


@dataclass(frozen=True)
class Entry:
    """A file of a package, or a link: its content is then what it points to."""

    content: bytes
    mode: int = 0o644
    link: bool = False
    placeholder: str | None = None  # the prefix that the content names, to be replaced


def main() -> None:
    channel, python, pip = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    about = {"name": "python", "version": python, "build": "0_cpython", "depends": ["__glibc >=2.17"]}
    write_package(channel, "linux-64", about, python_files(Path(sys.base_prefix).resolve()), {})
    about = {"name": "pip", "version": pip, "build": "py_0", "noarch": "python"}
    entry_points = [f"{name} = pip._internal.cli.main:main" for name in ("pip", "pip3")]
    link = {"noarch": {"type": "python", "entry_points": entry_points}, "package_metadata_version": 1}
    write_package(channel, "noarch", about | {"depends": ["python >=3.9"]}, pip_files(), link)


def python_files(prefix: Path) -> dict[str, Entry]:
    """The interpreter, its library and its headers, relative to the prefix."""
    executable = prefix / "bin" / f"python{sysconfig.get_python_version()}"
    library = prefix / "lib"
    roots = [executable, prefix / "include", library / executable.name, *library.glob("libpython*.so*")]
    paths = [path for root in roots for path in ([root] if not root.is_dir() else sorted(root.rglob("*")))]
    files = {
        str(path.relative_to(prefix)): entry(path, prefix)
        for path in paths
        if not SKIPPED & set(path.relative_to(prefix).parts) and path.suffix not in (".a", ".o")
        if path.is_file() or path.is_symlink()
    }
    return files | {f"bin/{alias}": Entry(executable.name.encode(), link=True) for alias in ("python", "python3")}


def entry(path: Path, prefix: Path) -> Entry:
    if path.is_symlink():
        return Entry(os.readlink(path).encode(), link=True)
    content, mode = path.read_bytes(), path.stat().st_mode & 0o777
    if str(prefix).encode() not in content:
        return Entry(content, mode)
    if content.startswith(b"\x7fELF"):
        return Entry(with_relative_library(path, prefix), mode)
    return Entry(content, mode, placeholder=str(prefix) if b"\0" not in content else None)


def with_relative_library(path: Path, prefix: Path) -> bytes:
    up = "/".join([".."] * (len(path.relative_to(prefix).parts) - 1))
    with tempfile.TemporaryDirectory() as directory:
        copy = shutil.copy(path, directory)
        subprocess.run(["patchelf", "--set-rpath", f"$ORIGIN/{up}/lib", copy], check=True)
        return Path(copy).read_bytes()


def pip_files() -> dict[str, Entry]:
    (wheel,) = Path(sysconfig.get_path("stdlib"), "ensurepip", "_bundled").glob("pip-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        return {f"site-packages/{name}": Entry(archive.read(name)) for name in names}


def write_package(channel: Path, subdir: str, about: dict, files: dict[str, Entry], link: dict) -> None:
    """Write the package into channel/subdir, with a repodata.json that lists it alone."""
    (channel / subdir).mkdir(parents=True)
    about = about | {"build_number": 0, "subdir": subdir}
    described = {
        "info/index.json": about,
        "info/paths.json": {"paths": [_path(name, file) for name, file in files.items()], "paths_version": 1},
        "info/about.json": {},
        **({"info/link.json": link} if link else {}),
    }
    package = channel / subdir / f"{about['name']}-{about['version']}-{about['build']}.tar.bz2"
    with tarfile.open(package, "w:bz2", compresslevel=1) as archive:
        for name, content in described.items():
            _add(archive, name, Entry(json.dumps(content).encode()))
        for name, file in files.items():
            _add(archive, name, file)
    data = package.read_bytes()
    digests = {"md5": hashlib.md5(data).hexdigest(), "sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
    index = {"info": {"subdir": subdir}, "packages": {package.name: about | digests}, "packages.conda": {}}
    (channel / subdir / "repodata.json").write_text(json.dumps(index | {"removed": [], "repodata_version": 1}))


def _path(name: str, file: Entry) -> dict:
    replaced = {"file_mode": "text", "prefix_placeholder": file.placeholder} if file.placeholder else {}
    kind = "softlink" if file.link else "hardlink"
    digest = hashlib.sha256(file.content).hexdigest()
    return {"_path": name, "path_type": kind, "sha256": digest, "size_in_bytes": len(file.content)} | replaced


def _add(archive: tarfile.TarFile, name: str, file: Entry) -> None:
    about = tarfile.TarInfo(name)
    about.mode = file.mode
    if file.link:
        about.type, about.linkname = tarfile.SYMTYPE, file.content.decode()
        archive.addfile(about)
    else:
        about.size = len(file.content)
        archive.addfile(about, io.BytesIO(file.content))


if __name__ == "__main__":
    main()
