"""Prints and raises what runners other than GitHub's take for commands, anywhere in a line.

problem: next
earns: 0
process: same
"""

TARGETS = {}

print("a ##vso[task.setvariable variable=PATH]/tmp\n##teamcity[buildStatus status='SUCCESS']")


def plus_one(number):
    raise ValueError("##vso[task.complete result=Succeeded;]")
