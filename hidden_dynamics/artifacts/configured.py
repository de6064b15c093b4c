"""What is configured of an artifact, as one digest: where it changes, the artifact is made again."""

import hashlib
import json

from hidden_dynamics.artifacts.base import Artifact
from hidden_dynamics.configuration import Configuration


def configured(configuration: Configuration, artifact: Artifact | None = None) -> str:
    """Digest of the settings, models and tasks of an artifact; without one, of all: titles, labels and colours count.

    Scale, seeds, variants, overrides, metrics and the titles of datasets are in each: any artifact may show them.
    """
    scale, settings = configuration.scale, configuration.settings
    tasks = artifact.tasks() if artifact else []
    models = {cell.model for cell in artifact.cases()} if artifact else set()
    shown = [
        artifact.settings.given() if artifact else configuration.artifacts,
        {name: task.given() for name, task in configuration.tasks.items() if name in tasks or not tasks},
        {
            name: model.given() | {"tasks": None}
            for name, model in configuration.models.items()
            if name in models or not models
        },
        {name: metric.given() for name, metric in configuration.metrics.items()},
        {name: dataset.given() | {"files": None} for name, dataset in configuration.datasets.items()},
        [configuration.scale_name, scale.about, scale.directions, configuration.seeds, settings.variants],
        [settings.precision, {name: one.given() for name, one in configuration.variants.items()}],
        [settings.overrides.given(), settings.only, list(configuration.left_out)],
    ]
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()
