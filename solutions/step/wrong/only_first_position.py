"""Verifies the first drafted token only.

hear: You stop after the first kept token: go on through all K positions until one is rejected.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    coin_device = None if generator is None else generator.device
    tokens = []
    n = 0
    row = target_probs[0]
    if len(draft_tokens) > 0:
        t = draft_tokens[0].item()
        accept_prob = min(1.0, (target_probs[0, t] / draft_probs[0, t]).item())
        coin = torch.rand((), generator=generator, device=coin_device)
        if coin.item() < accept_prob:
            tokens.append(t)
            n = 1
            row = target_probs[1]
        else:
            residual = (row - draft_probs[0]).clamp(min=0)
            row = residual if residual.sum() > 0 else row
    tokens.append(torch.multinomial(row, 1, generator=generator).item())
    return torch.tensor(tokens, dtype=torch.int64, device=draft_tokens.device), n
