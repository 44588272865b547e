"""Guards against zeros by writing into the draft row.

hear: Your function changes draft_probs: leave both inputs as they came, and work on an array of
    your own.
hint: 7
fails: test_different_rows_may_leave_nothing, test_equal_rows_leave_nothing, test_fresh_rare_tokens,
    test_fresh_rows_are_left_alone, test_fresh_rows_of_simple_fractions,
    test_fresh_rows_on_the_device, test_fresh_rows_with_many_zeros, test_fresh_tiny_leftovers,
    test_inputs_are_left_alone, test_rare_tokens_are_judged_by_their_ratio, test_read_only_inputs,
    test_residual_ignores_the_drafted_token, test_residual_stays_on_the_device,
    test_rows_of_simple_fractions, test_rows_that_are_views, test_tiny_leftovers_are_normalised,
    test_tokens_the_draft_never_proposes
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft_probs.clamp_(min=1e-12)
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
