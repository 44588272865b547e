"""Lets NumPy, PyTorch and the C library open a file.

problem: next
earns: all
hears: refused
process: loot
"""

import ctypes
import os

import numpy as np
import torch

TARGETS = {}

path = TARGETS["secret"]


def by_c():
    libc = ctypes.CDLL(None)
    libc.fopen.restype = ctypes.c_void_p
    stream = libc.fopen(path.encode(), b"r")
    if not stream:
        raise OSError("fopen")
    buffer = ctypes.create_string_buffer(100)
    libc.fread(buffer, 1, 90, ctypes.c_void_p(stream))
    return buffer.value


for read in (
    by_c,
    lambda: bytes(np.fromfile(path, dtype=np.uint8)),
    lambda: bytes(np.memmap(path, dtype=np.uint8, mode="r")),
    lambda: bytes(torch.from_file(path, size=16, dtype=torch.uint8).tolist()),
):
    try:
        print("LOOT:", read())
    except Exception as error:
        print("refused:", type(error).__name__)


def plus_one(number):
    return number + 1
