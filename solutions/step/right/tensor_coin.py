"""Keeps coin and ratio as tensors, and the coin as a vector of one entry."""

import torch


@torch.no_grad()
def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    K, _ = draft_probs.shape
    keywords = {} if generator is None else {"generator": generator, "device": generator.device}
    tokens = torch.zeros(K + 1, dtype=torch.int64, device=draft_tokens.device)
    for i in range(K):
        t = draft_tokens[i].item()
        u = torch.rand(1, **keywords)
        if bool(u.to(draft_probs.device) < target_probs[i, t] / draft_probs[i, t]):
            tokens[i] = t
        else:
            residual = torch.maximum(target_probs[i], draft_probs[i]) - draft_probs[i]
            if not residual.any():
                residual = target_probs[i]
            tokens[i] = torch.multinomial(residual, 1, generator=generator).item()
            return tokens[: i + 1].clone(), i
    tokens[K] = torch.multinomial(target_probs[K], 1, generator=generator).item()
    return tokens, K
