"""Hands multinomial a batch of one row and squeezes the batch away again."""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    K = len(draft_tokens)
    where = None if generator is None else generator.device

    def sample(row):
        return torch.multinomial(row.unsqueeze(0), 1, generator=generator).squeeze(0)

    def finish(n, last):
        kept = draft_tokens[:n].to(torch.int64)
        return torch.cat((kept, last.to(draft_tokens.device))), n

    for i in range(K):
        t = draft_tokens[i].long()
        accept_prob = (target_probs[i, t] / draft_probs[i, t]).clamp(max=1.0)
        if torch.rand((), generator=generator, device=where).item() >= accept_prob.item():
            residual = (target_probs[i] - draft_probs[i]).clamp(min=0.0)
            total = residual.sum()
            return finish(i, sample(residual / total if total > 0 else target_probs[i]))
    return finish(K, sample(target_probs[K]))
