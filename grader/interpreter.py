"""Starting a new Python on the worker folder, with nothing of this one: no variable, no file."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

OUTPUT_BYTES = 64 << 10

_WORKER_FOLDER = Path(__file__).resolve().parent / "worker"
_F_ADD_SEALS, _SEALS = 1033, 0x1 | 0x2 | 0x4  # no more seals, no shrinking, no growing


def start(
    arguments: list[str], fds: tuple[int, ...], *, cuda: bool = False
) -> subprocess.Popen[bytes]:
    """A new interpreter on the worker folder, which inherits these descriptors and no others.

    -P and -s keep the current and the user's folders off its path. Not -I, which would ignore
    PYTHONHASHSEED too. cuda: leaves the machine's CUDA devices visible.
    """
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/nonexistent",
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        # Without it torch.set_num_threads(4) aborts where threads are barred.
        "OMP_THREAD_LIMIT": "1",
        "MKL_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        # PyTorch's compiler, which an optimiser loads, makes a folder of its own unless it exists.
        "TORCHINDUCTOR_CACHE_DIR": "/",
        # Huge pages where the system offers them: a third less to copy at every fork.
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    }
    if not cuda:
        environment["CUDA_VISIBLE_DEVICES"] = ""
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "LD_LIBRARY_PATH"):
        if name in os.environ:  # how this machine's libraries have to be run, not who runs them
            environment[name] = os.environ[name]
    return subprocess.Popen(
        [sys.executable, "-P", "-s", str(_WORKER_FOLDER), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=fds,
        env=environment,
        cwd="/",
        start_new_session=True,
    )


def output_file() -> int:
    """A file of OUTPUT_BYTES that a worker prints into and only this process reads."""
    if not hasattr(os, "memfd_create"):
        with tempfile.TemporaryFile() as file:
            return os.dup(file.fileno())
    import fcntl

    fd = os.memfd_create("output", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    os.ftruncate(fd, OUTPUT_BYTES)
    fcntl.fcntl(fd, _F_ADD_SEALS, _SEALS)
    return fd
