"""SLURM on this machine, started for tests and ended after them."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from conftest import ROOT

LAB = ROOT / "tests/slurm/lab/lab.sh"
PREFIX = "slurm-lab-"
PROGRAMS = ["slurmctld", "slurmd", "slurmdbd", "sbatch", "mariadbd", "munged"]


def missing():
    if os.geteuid() != 0:
        return "needs root, to start SLURM's daemons"
    absent = [name for name in PROGRAMS if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") is None]
    return f"not installed: {', '.join(absent)} (slurm-wlm, slurmdbd, mariadb-server, munge)" if absent else None


@pytest.fixture(scope="module")
def slurm():
    """SLURM, up for the tests of this file; its daemons are ended by their recorded numbers."""
    with open("/tmp/slurm-lab.lock", "w") as lock:  # one at a time on a machine: it has one /etc/slurm
        fcntl.flock(lock, fcntl.LOCK_EX)
        end_what_a_killed_test_left()
        lab = tempfile.mkdtemp(prefix=PREFIX)  # not pytest's, which MariaDB's own user may not enter
        environment = os.environ | {
            "SLURM_LAB": lab,
            "SLURM_LAB_CPUS": "16",  # pretended, as the memory is: jobs that wait for each other need no more than room
            "SLURM_LAB_MEM": "64000",
            "SLURM_LAB_REQUEUE": "10",
            "PATH": os.environ["PATH"] + ":/usr/sbin",
        }
        try:
            up = subprocess.run([LAB, "up"], env=environment, capture_output=True, text=True)
            assert up.returncode == 0, up.stdout + up.stderr
            yield
        finally:
            subprocess.run([LAB, "down"], env=environment, check=True)
            shutil.rmtree(lab)


def end_what_a_killed_test_left():
    """End the laboratory of a test session that was killed, and remove its links; whoever holds the lock is alone."""
    configuration = Path("/etc/slurm/slurm.conf")
    lab = configuration.readlink().parents[1] if configuration.is_symlink() else None
    if lab is not None and lab.parent == Path(tempfile.gettempdir()) and lab.name.startswith(PREFIX):
        subprocess.run([LAB, "down"], env=os.environ | {"SLURM_LAB": str(lab)}, check=True)
        shutil.rmtree(lab, ignore_errors=True)
