"""Subtracts in place from the target row.

hear: Your function changes target_probs: work in new arrays, not in place.
hint: 4
fails: test_different_rows_may_leave_nothing, test_equal_rows_leave_nothing,
    test_fresh_rows_are_left_alone, test_fresh_rows_on_the_device, test_inputs_are_left_alone,
    test_read_only_inputs, test_rows_that_are_views, test_vocabulary_of_one_token
"""


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    target_probs -= draft_probs
    residual = target_probs.clamp(min=0)
    total = residual.sum()
    if total > 0:
        residual /= total
    return {"accept_prob": accept_prob, "residual": residual}
