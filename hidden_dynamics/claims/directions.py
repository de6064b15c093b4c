"""The kinds of claims that have a direction, which a second verdict can be on (docs/claims.md). Quick to import.

A direction can be asked under other conditions than the paper's: which of two models is ahead here, on these data, at
these sizes, after this training. A kind has one where its test holds runs to runs of the same conditions, and where no
number that the paper printed enters it but as a sign, a side or an order. A claim that rests on others (kind `all`)
follows what it rests on.
"""

HAS_A_DIRECTION = {
    # Runs against runs: which is ahead, which spreads less, which is sooner at a loss that both reach, which of two
    # leads is the larger one.
    "better": True,
    "steadier": True,
    "faster": True,
    "gain": True,
    # The same, with a margin or a share of published/claims.yaml's definitions, which is ours, and is taken of our own
    # reference's number. It cannot hold where the reference does not overfit here, or its gradients do not vanish.
    "not_better": True,
    "similar": True,
    "overfitting": True,
    "gradients": True,
    # Of the printed numbers only their order enters; of the printed costs only the side of the baseline's.
    "ranking": True,
    "ratio": True,
    # Held to a number that is none of these runs': a printed mean or ratio; a share of the gradient, which is the
    # larger the shorter the sequence.
    "value": False,
    "reaches": False,
    # Parameters are counted, of networks whose sizes the scale has set: nothing that was run decides it.
    "smaller": False,
}
