"""Lifts the draft row to 1e-12 before it is used, in an array of its own.

hear: Your numbers are those of a draft row lifted off 0: q[t] > 0 is promised, so use the row as
    given.
fails: test_fresh_rare_tokens, test_fresh_rows_are_left_alone, test_fresh_rows_of_simple_fractions,
    test_fresh_rows_with_many_zeros, test_fresh_tiny_leftovers, test_inputs_are_left_alone,
    test_rare_tokens_are_judged_by_their_ratio, test_residual_ignores_the_drafted_token,
    test_residual_stays_on_the_device, test_rows_of_simple_fractions,
    test_tiny_leftovers_are_normalised, test_tokens_the_draft_never_proposes
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft_probs = draft_probs.clamp(min=1e-12)
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
