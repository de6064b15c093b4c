"""A GRU that is fed its own predictions, its backpropagation derived by hand.

It takes a step at every union time, thousands of them, each of a few small operations. So all that need not be done in
the loop is done before or after it: predictions and the GRU's input are both linear in the decoder's hidden layer and
become one product, and the gradient of each weight is one product over all steps.
"""

from typing import Any

import torch
from torch import Tensor, nn

sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input
tanh_backward = torch.ops.aten.tanh_backward.grad_input


def generated(cell: nn.GRUCell, decoder: nn.Sequential, h: Tensor, gaps: Tensor) -> Tensor:
    """The states h_0 = h, ..., h_T of h_{i+1} = cell([decoder(h_i), 1, gaps_i], h_i): (T + 1, N, H).

    Args:
        cell: of inputs of 2 D + 1 entries.
        decoder: a linear map to U units, tanh, a linear map to D features.
        h: (N, H).
        gaps: (T,).
    """
    hidden, _, out = decoder
    features = out.out_features
    of_values, of_mask, of_gap = cell.weight_ih.split([features, features, 1], 1)
    constant = cell.bias_ih + of_values @ out.bias + of_mask.sum(1)
    return _Generated.apply(
        h,
        torch.cat([hidden.weight, cell.weight_hh]),
        torch.cat([hidden.bias, cell.bias_hh]),
        of_values @ out.weight,
        torch.outer(gaps, of_gap.squeeze(1)) + constant,
    )


class _Generated(torch.autograd.Function):
    """States of a loop over i, with a = tanh(y_1), y = J h_i + b of U + 3 H entries and x = M a + c_i of 3 H:

        r, z = sigmoid(y_r + x_r), sigmoid(y_z + x_z);  n = tanh(x_n + r y_n);  h_{i+1} = n + z (h_i - n).

    The entries of y are [y_1, y_r, y_z, y_n]; J is (U + 3 H, H), M (3 H, U) and c (T, 3 H).
    """

    @staticmethod
    def forward(ctx: Any, h: Tensor, joint: Tensor, bias: Tensor, through: Tensor, constants: Tensor) -> Tensor:
        (batch, size), units, count = h.shape, through.shape[1], len(constants)
        kept = count if any(ctx.needs_input_grad) else 1
        states = h.new_empty(count + 1, batch, size)
        states[0] = h
        all_y = h.new_empty(kept, batch, units + 3 * size)
        all_n = h.new_empty(kept, batch, size)
        joint_t, of_gates, of_n = joint.t(), through[: 2 * size].t(), through[2 * size :].t()
        shift = torch.cat([bias.new_zeros(count, units), constants[:, : 2 * size], constants.new_zeros(count, size)], 1)
        biases, last = (shift + bias).unbind(), constants[:, 2 * size :].unbind()
        parts = [each.unbind() for each in all_y.split([units, 2 * size, size], 2)]
        r, z = (each.unbind() for each in all_y[..., units : units + 2 * size].chunk(2, 2))
        ys, ns, hs = all_y.unbind(), all_n.unbind(), states.unbind()
        for i in range(count):
            k = i if kept > 1 else 0
            torch.addmm(biases[i], hs[i], joint_t, out=ys[k])
            a, gates, own = parts[0][k].tanh_(), parts[1][k], parts[2][k]
            gates.addmm_(a, of_gates).sigmoid_()
            n = torch.addmm(last[i], a, of_n, out=ns[k]).addcmul_(r[k], own).tanh_()
            torch.lerp(n, hs[i], z[k], out=hs[i + 1])
        if any(ctx.needs_input_grad):
            ctx.save_for_backward(states, all_y, all_n, joint, through)
        return states

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, d_states: Tensor) -> tuple[Tensor, ...]:
        states, all_y, all_n, joint, through = ctx.saved_tensors
        (batch, size), units, count = states.shape[1:], through.shape[1], len(all_n)
        # Of y, but for the order of its entries, [y_1, y_n, y_r, y_z], and of n's argument: of x they are the last 3 H.
        d_all = states.new_empty(count, batch, units + 4 * size)
        order = [slice(units), slice(units + 2 * size, None), slice(units, units + 2 * size)]
        turned = torch.cat([joint[each] for each in order])
        d_a, d_own, d_r, d_z, d_n = (each.unbind() for each in d_all.split([units, *[size] * 4], 2))
        d_gates, d_y = (each.unbind() for each in (d_all[..., -3 * size : -size], d_all[..., :-size]))
        d_x = d_all[..., -3 * size :].unbind()
        a, gates, own = (each.unbind() for each in all_y.split([units, 2 * size, size], 2))
        r, z = (each.unbind() for each in all_y[..., units : units + 2 * size].chunk(2, 2))
        ns, hs, given = all_n.unbind(), states.unbind(), d_states.unbind()
        dh = d_states[-1].clone() if count else d_states[0].clone()
        for i in reversed(range(count)):
            kept = dh * z[i]
            torch.mul(dh, hs[i] - ns[i], out=d_z[i])
            tanh_backward(dh.sub_(kept), ns[i], grad_input=d_n[i])
            torch.mul(d_n[i], own[i], out=d_r[i])
            torch.mul(d_n[i], r[i], out=d_own[i])
            sigmoid_backward(d_gates[i], gates[i], grad_input=d_gates[i])
            tanh_backward(d_x[i] @ through, a[i], grad_input=d_a[i])
            dh = kept.add_(given[i]).addmm_(d_y[i], turned)
        of_y, of_x = d_all[..., :-size].flatten(0, 1), d_all[..., -3 * size :].flatten(0, 1)
        d_joint = of_y.t() @ states[:-1].flatten(0, 1)
        first = units + size
        place = [slice(units), slice(first, None), slice(units, first)]
        return (
            dh,
            torch.cat([d_joint[each] for each in place]),
            torch.cat([of_y.sum(0)[each] for each in place]),
            of_x.t() @ all_y[..., :units].flatten(0, 1),
            d_all[..., -3 * size :].sum(1),
        )
