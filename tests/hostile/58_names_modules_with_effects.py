"""Names modules that do something when they are imported, where a reader of the text finds them.

problem: next
earns: all
process: same
"""

TARGETS = {}

if not TARGETS:
    import antigravity
    import idlelib.idle
    import lib2to3.pgen2.driver
    import this
    import turtle
    import unittest.__main__
    import webbrowser

    import test.support.os_helper
    import torch.utils.bottleneck.__main__
    import torch.utils.collect_env


def plus_one(number):
    return number + 1
