"""The loop as it is usually published: no fallback, and ids made on the CPU.

Full marks, but no extra credit: it divides zero by zero when a rejection leaves no residual, and
on an accelerator it tosses its coin and builds its tokens on the wrong device.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    K = draft_tokens.shape[0]
    accepted = []
    for i in range(K):
        t = draft_tokens[i].item()
        ratio = target_probs[i, t] / draft_probs[i, t]
        if torch.rand((), generator=generator) < min(1.0, ratio.item()):
            accepted.append(t)
        else:
            residual = torch.clamp(target_probs[i] - draft_probs[i], min=0)
            residual = residual / residual.sum()
            new_token = torch.multinomial(residual, 1, generator=generator)
            return torch.tensor([*accepted, new_token.item()], dtype=torch.long), i
    bonus = torch.multinomial(target_probs[K], 1, generator=generator)
    return torch.tensor([*accepted, bonus.item()], dtype=torch.long), K
