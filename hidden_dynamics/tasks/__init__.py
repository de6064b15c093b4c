"""Tasks: batches, loss and evaluation of one experiment.

A task is a class with

    input_size, output_size, every_step     what a network has to map (other networks may ask for something else)
    ragged                                  whether its sequences differ in length; may be left out where they do not
    train_size                              examples in an epoch; None where data is drawn without end
    schedule(training, seed)                in the place of train_size, where batches are no examples in random order:
                                            as hidden_dynamics.tasks.schedule.Schedule
    naive                                   may be left out: {metric: {name: score}} of the naive baselines on the sets
                                            that are evaluated (hidden_dynamics.tasks.naive_scores)
    test_set                                may be left out: {"size": ..., "positive": ...}, the number of test samples,
                                            and of the positive ones where there are two classes, or None
    split                                   may be left out: {"series": ..., "train": ...}, how many examples there are
    limits                                  may be left out: {"test_mse": ...}, what the best possible predictor scores
    __init__(arrays, settings, seed, device)
    batch(epoch, indices)                   a batch of these examples of the training set; with train_size None,
                                            `indices` is (iteration, batch size)
    loss(network, batch)                    a scalar tensor; where a part of the network can be trained by itself
                                            (training.alternating), loss(network, batch, part) is what that part sees
    evaluate(network)                       {"test_loss": ..., ...} over the whole test set
    evaluate_test(network)                  may be left out; measured once, on the weights of the reported evaluation,
                                            in which case `evaluate` is of a validation set
    test_on_first(items, network)           may be left out, and then no ODE's solver is checked; how many of the first
                                            `items` of the test set there are, and the metrics of the test on these
    predictions(network)                    may be left out; the answers on the test set by name, arrays, on the weights
                                            of the reported evaluation, where training.record_predictions asks for them
    hidden_state                               may be left out: what a batch hands on to the next one, nested tuples of
                                            tensors, or None; checkpoints hold it

The batch is whatever `loss` understands. Where sequences differ in length, a batch is sorted, the longest first, and
`loss` calls network(x, lengths), which answers the valid steps alone (hidden_dynamics.models.ragged). Everything
random is drawn from hidden_dynamics.data.streams by seed and counter, so that a resumed training sees the same
batches.
"""
