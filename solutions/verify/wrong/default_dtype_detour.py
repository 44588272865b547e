"""Rebuilds the rows in the default dtype and converts back.

hear: Your numbers have only the digits of float32 for float64 rows: compute in the dtype of the
    inputs.
fails: test_accept_prob_is_a_python_float, test_fresh_large_vocabulary,
    test_fresh_nearly_equal_rows, test_fresh_rare_tokens, test_fresh_rows_are_left_alone,
    test_fresh_rows_of_simple_fractions, test_fresh_rows_on_the_device,
    test_fresh_rows_with_every_token, test_fresh_rows_with_many_zeros, test_fresh_softmax_rows,
    test_fresh_tiny_leftovers, test_inputs_are_left_alone, test_large_vocabulary,
    test_nearly_equal_rows, test_rare_tokens_are_judged_by_their_ratio,
    test_rows_of_simple_fractions, test_slight_differences_count, test_softmax_rows,
    test_tiny_leftovers_are_normalised, test_tokens_the_draft_never_proposes
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft, target = torch.tensor(draft_probs.tolist()), torch.tensor(target_probs.tolist())
    accept_prob = min(1.0, (target[drafted_token] / draft[drafted_token]).item())
    leftover = torch.clamp(target - draft, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual.to(target_probs)}
