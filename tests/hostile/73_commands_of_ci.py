"""Prints commands that a runner of workflows would follow.

problem: next
earns: 0
hears: ::error
process: same
"""

TARGETS = {}

LINES = (
    "::error file=x.py,line=1::owned\n::set-output name=score::7\n::stop-commands::x\n"
    "##[error]owned\n##vso[task.complete result=Succeeded;]\n::add-mask::7\n\n  ::warning::x\n"
    "\u200b::error::hidden first\n\x1b[0m::error::coloured first\n"
)


def plus_one(number):
    print(LINES)
    raise ValueError("\n" + LINES)
