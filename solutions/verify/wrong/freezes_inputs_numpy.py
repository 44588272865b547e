"""Makes the inputs read-only to be safe.

hear: your code clears the writeable flag of the inputs; leave their flags as they came.
"""

import numpy as np


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft_probs.flags.writeable = False
    target_probs.flags.writeable = False
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
