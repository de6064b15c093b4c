"""A GRU that is fed its own predictions, its backpropagation derived by hand.

It takes a step at every union time, thousands of them, each of a few small operations. So all that need not be done in
the loop is done before or after it: predictions and the GRU's input are both linear in the decoder's hidden layer and
become one product, and the gradient of each weight is one product over all steps.
"""

from typing import Any

import torch
from torch import Tensor, nn


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
        torch.is_grad_enabled(),  # within `forward` it is not, and what needs a gradient does not depend on it
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
    def forward(
        ctx: Any, recording: bool, h: Tensor, joint: Tensor, bias: Tensor, through: Tensor, constants: Tensor
    ) -> Tensor:
        (batch, size), units, count = h.shape, through.shape[1], len(constants)
        recording = recording and any(ctx.needs_input_grad)
        kept = count if recording else 1
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
        if recording:
            ctx.save_for_backward(states, all_y, all_n, joint, through)
        return states

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, d_states: Tensor) -> tuple[Tensor | None, ...]:
        """All but y_1's own part is linear in the gradient of h_{i+1}, entry by entry: the factors are known for all
        steps at once, and the gradients take their places."""
        states, all_y, all_n, joint, through = ctx.saved_tensors
        (batch, size), units, count = states.shape[1:], through.shape[1], len(all_n)
        a, r, z, own = all_y.split([units, size, size, size], 2)
        # Of [y_1, y_n, y_r, y_z] and of the argument of n; the last three are those of x.
        d_all = states.new_empty(count, batch, units + 4 * size)
        of_h = d_all[..., units:].unflatten(2, (4, size))
        torch.mul(1 - z, 1 - all_n.square(), out=of_h[:, :, 3])
        torch.mul(of_h[:, :, 3], r, out=of_h[:, :, 0])
        torch.mul(of_h[:, :, 0], own * (1 - r), out=of_h[:, :, 1])
        torch.mul(states[:-1] - all_n, z * (1 - z), out=of_h[:, :, 2])
        torch.sub(1, a.square(), out=d_all[..., :units])
        order = [slice(units), slice(units + 2 * size, None), slice(units, units + 2 * size)]
        turned = torch.cat([joint[each] for each in order])
        d_y, d_x = d_all[..., :-size], d_all[..., -3 * size :]
        by_step = (each.unbind() for each in (d_all[..., :units], of_h, d_y, d_x, z, d_states[:-1]))
        dh = d_states[-1]
        for d_a, d_rest, of_y, of_x, kept, given in reversed(list(zip(*by_step, strict=True))):
            d_rest.mul_(dh.unsqueeze(1))
            d_a.mul_(of_x @ through)
            dh = torch.addcmul(given, dh, kept).addmm_(of_y, turned)
        d_joint, d_bias = d_y.flatten(0, 1).t() @ states[:-1].flatten(0, 1), d_y.sum((0, 1))
        first = units + size
        order = [slice(units), slice(first, None), slice(units, first)]
        return (
            None,
            dh,
            torch.cat([d_joint[each] for each in order]),
            torch.cat([d_bias[each] for each in order]),
            d_x.flatten(0, 1).t() @ a.flatten(0, 1),
            d_x.sum(1),
        )
