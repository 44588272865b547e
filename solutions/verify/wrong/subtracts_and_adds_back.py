"""Subtracts in place and adds back afterwards.

hear: Your function changes target_probs and puts it back, not quite: subtract into a new array.
hint: 4
fails: test_fresh_rows_are_left_alone, test_fresh_rows_on_the_device, test_inputs_are_left_alone,
    test_read_only_inputs, test_rows_that_are_views
"""


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    target_probs -= draft_probs
    leftover = target_probs.clamp(min=0)
    target_probs += draft_probs
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
