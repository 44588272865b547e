"""Subtracts in place through .data.

hear: Your function changes target_probs, whose memory .data and .numpy() share: use a new tensor.
hint: 4
fails: test_different_rows_may_leave_nothing, test_equal_rows_leave_nothing,
    test_fresh_rows_are_left_alone, test_fresh_rows_on_the_device, test_inputs_are_left_alone,
    test_rows_that_are_views, test_vocabulary_of_one_token
"""


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    target_probs.data.sub_(draft_probs)
    leftover = target_probs.clamp(min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
