"""LAMB, the optimiser of NVIDIA's BERT trainer, in plain PyTorch, on all parameters of a group at once.

Source: You et al. 2020, https://arxiv.org/abs/1904.00962, as NVIDIA Apex's FusedLAMB computes it: gradients are divided
by their norm over all parameters where that is above 1, and parameters without weight decay take a step of Adam.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict

import torch

BETAS = (0.9, 0.999)
EPSILON = 1e-6
LARGEST_NORM = 1.0


class ParameterGroup(TypedDict, total=False):
    """Parameters and what they are trained with, as PyTorch's optimisers take and keep them."""

    params: list[Any]
    weight_decay: float
    lr: float
    step: int


class Lamb(torch.optim.Optimizer):  # type: ignore[misc]  # without torch its classes are Any
    """Groups of parameters, with weight decay unless the group states another."""

    def __init__(self, groups: Iterable[ParameterGroup], learning_rate: float, weight_decay: float) -> None:
        super().__init__(groups, {"lr": learning_rate, "weight_decay": weight_decay, "step": 0})

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self, closure: Any = None) -> None:
        """Update all parameters that have a gradient; no value of it is read by the host."""
        gradients = [each.grad for group in self.param_groups for each in group["params"] if each.grad is not None]
        divisor = torch.nn.utils.get_total_norm(gradients).div(LARGEST_NORM).clamp(min=1.0)
        torch._foreach_div_(gradients, divisor)
        for group in self.param_groups:
            group["step"] += 1
            self._update(group, [each for each in group["params"] if each.grad is not None])

    def _update(self, group: ParameterGroup, parameters: list[Any]) -> None:
        for each in parameters:
            self.state[each] = self.state[each] or {"mean": torch.zeros_like(each), "square": torch.zeros_like(each)}
        gradients = [each.grad for each in parameters]
        means, squares = ([self.state[each][name] for each in parameters] for name in ("mean", "square"))
        torch._foreach_lerp_(means, gradients, 1 - BETAS[0])
        torch._foreach_mul_(squares, BETAS[1])
        torch._foreach_addcmul_(squares, gradients, gradients, 1 - BETAS[1])
        corrections = [1 - beta ** group["step"] for beta in BETAS]
        denominators = torch._foreach_div(squares, corrections[1])
        torch._foreach_sqrt_(denominators)
        torch._foreach_add_(denominators, EPSILON)
        updates = torch._foreach_div(means, corrections[0])
        torch._foreach_div_(updates, denominators)
        if group["weight_decay"]:
            torch._foreach_add_(updates, parameters, alpha=group["weight_decay"])
            ratios = [
                torch.where((weight > 0) & (update > 0), weight / update, 1.0)
                for weight, update in zip(torch._foreach_norm(parameters), torch._foreach_norm(updates), strict=True)
            ]
            torch._foreach_mul_(updates, ratios)
        torch._foreach_add_(parameters, updates, alpha=-group["lr"])
