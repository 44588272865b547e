"""Does the arithmetic in Python lists and goes back to PyTorch for the draws only."""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    q_rows, p_rows, ids = draft_probs.tolist(), target_probs.tolist(), draft_tokens.tolist()
    home = target_probs.device
    coin_device = None if generator is None else generator.device

    n, weights = len(ids), p_rows[-1]
    for i, (q, p, t) in enumerate(zip(q_rows, p_rows, ids, strict=False)):
        u = torch.rand((), generator=generator, device=coin_device).item()
        if not u < min(1.0, p[t] / q[t]):
            leftover = [max(b - a, 0.0) for a, b in zip(q, p, strict=True)]
            total = sum(leftover)
            n, weights = i, [x / total for x in leftover] if total > 0 else p
            break

    weights = torch.tensor(weights, dtype=torch.float64, device=home)
    last = torch.multinomial(weights, 1, generator=generator).item()
    return torch.tensor([*ids[:n], last], dtype=torch.int64, device=draft_tokens.device), n
