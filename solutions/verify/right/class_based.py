"""Keeps the two rows in a small class."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Verifier:
    draft: torch.Tensor
    target: torch.Tensor

    def accept_prob(self, token: int) -> float:
        return min(1.0, (self.target[token] / self.draft[token]).item())

    def residual(self) -> torch.Tensor:
        leftover = torch.relu(self.target - self.draft)
        total = leftover.sum()
        return leftover / total if total > 0 else leftover


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    verifier = Verifier(draft_probs, target_probs)
    return {
        "accept_prob": verifier.accept_prob(drafted_token),
        "residual": verifier.residual(),
    }
