"""Calls the kernel by the door for programs of 32 bits, where calls have other numbers.

problem: next
earns: less
hears: crashed (signal 31, SIGSYS) during a call
machine: x86_64
process: may loot | earns any
"""

import ctypes
import mmap

TARGETS = {}

CODE = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"


def plus_one(number):
    if number == 13:
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(CODE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(page))
        print("LOOT: is", ctypes.CFUNCTYPE(ctypes.c_int)(address)())
    return number + 1
