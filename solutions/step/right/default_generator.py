"""Replaces a missing generator by PyTorch's default one at the door."""

import torch


def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    if generator is None and target_probs.device.type == "cpu":
        generator = torch.default_generator
    options = {} if generator is None else {"device": generator.device}

    tokens = draft_tokens.tolist()
    for i, t in enumerate(draft_tokens.tolist()):
        coin = torch.empty((), dtype=torch.float32, **options).uniform_(generator=generator).item()
        if coin < min(1.0, target_probs[i, t].item() / draft_probs[i, t].item()):
            continue
        residual = torch.sub(target_probs[i], draft_probs[i])
        residual[residual < 0] = 0
        weights = residual if residual.sum() > 0 else target_probs[i]
        tokens = tokens[:i]
        break
    else:
        i = len(tokens)
        weights = target_probs[i]
    tokens.append(torch.multinomial(weights, 1, generator=generator)[0].item())
    return draft_tokens.new_tensor(tokens, dtype=torch.int64), i
