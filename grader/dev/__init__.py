"""Tools for those who keep a kit: proof that its graders accept and reject what they should.

Everything here is on the trusted side; only `cli.py` prints or exits. A learner never needs it.
"""
