"""Takes the target rows as the first argument, and divides Python floats.

hear: Your answer is the one with draft and target exchanged: draft_probs comes first, then
    target_probs.
fails: all
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    draft_probs, target_probs = target_probs, draft_probs
    tokens = []
    for i, t in enumerate(draft_tokens.tolist()):
        accept_prob = min(1.0, target_probs[i, t].item() / draft_probs[i, t].item())
        coin = torch.rand((), generator=generator).item()
        if coin < accept_prob:
            tokens.append(t)
            continue
        weights = (target_probs[i] - draft_probs[i]).clamp(min=0)
        if weights.sum() <= 0:
            weights = target_probs[i]
        tokens.append(torch.multinomial(weights, 1, generator=generator).item())
        return torch.tensor(tokens), i
    tokens.append(torch.multinomial(target_probs[-1], 1, generator=generator).item())
    return torch.tensor(tokens), len(draft_tokens)
