"""Replaces what the process writes its replies with."""

import json


def plus_one(number):
    if number == 13:
        json.JSONEncoder.iterencode = lambda *args, **kwargs: ['{"i": 0, "value": ["int", 14]}']
    return number + 1
