"""Subtracts in place through .numpy().

hear: Your function changes target_probs, whose memory .data and .numpy() share: use a new tensor.
hint: 4
fails: test_default_dtype_does_not_matter, test_different_rows_may_leave_nothing,
    test_equal_rows_leave_nothing, test_fresh_calls_stand_alone, test_fresh_rare_tokens,
    test_fresh_rows_are_left_alone, test_fresh_rows_of_simple_fractions,
    test_fresh_rows_on_the_device, test_fresh_rows_that_leave_nothing,
    test_fresh_rows_with_many_zeros, test_fresh_softmax_rows, test_fresh_tiny_leftovers,
    test_inputs_are_left_alone, test_nothing_is_random, test_rare_tokens_are_judged_by_their_ratio,
    test_residual_has_its_own_memory, test_residual_is_an_array_like_the_inputs,
    test_residual_stays_on_the_device, test_rows_of_simple_fractions, test_rows_that_are_views,
    test_slight_differences_count, test_softmax_rows, test_tiny_leftovers_are_normalised,
    test_tokens_the_draft_never_proposes, test_vocabulary_of_one_token
"""


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    difference = target_probs.numpy()
    difference -= draft_probs.numpy()
    leftover = target_probs.clamp(min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
