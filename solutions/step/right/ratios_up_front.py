"""Computes all accept probabilities and residuals at once; only the coins come one by one."""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    K = draft_tokens.numel()
    ids = draft_tokens.to(torch.int64)
    columns = ids.to(draft_probs.device).unsqueeze(1)
    q = draft_probs.gather(1, columns).squeeze(1)
    p = target_probs[:K].gather(1, columns).squeeze(1)
    accept_probs = (p / q).clamp(max=1).tolist()

    # Row K of the weights is the bonus row; a row without leftover falls back to the target's.
    leftover = (target_probs[:K] - draft_probs).clamp(min=0)
    empty = leftover.sum(dim=1, keepdim=True) == 0
    weights = torch.cat([torch.where(empty, target_probs[:K], leftover), target_probs[K:]])

    coin_device = None if generator is None else generator.device
    n = 0
    for accept_prob in accept_probs:
        if torch.rand((), generator=generator, device=coin_device).item() >= accept_prob:
            break
        n += 1
    last = torch.multinomial(weights[n], 1, generator=generator)
    return torch.cat([ids[:n], last.to(ids.device)]), n
