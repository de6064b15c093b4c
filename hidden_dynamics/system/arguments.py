"""Arguments of the scripts: the options that several of them have, and types for argparse."""

import argparse
from pathlib import Path
from typing import Any


def seed(text: str) -> int:
    """A seed that NumPy takes too: a whole number of 32 bits, 0 or more."""
    return within(int(text), 0, 2**32 - 1)


def positive(text: str) -> int:
    return within(int(text), 1, 2**31 - 1)


def within(number: int, least: int, most: int) -> int:
    """The number itself, if it is neither below `least` nor above `most`."""
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"{number} is not within {least} and {most}")
    return number


SHARED: dict[str, dict[str, Any]] = {
    "--artifact": {"required": True, "help": "name in config/artifacts.yaml, such as momentumrnn_table14"},
    "--config": {"help": "settings as JSON, merged over config.yaml"},
    "--cores": {"type": positive, "help": "CPU cores that runs share; default: this machine's"},
    "--device": {"choices": ["auto", "cpu", "cuda"], "help": "default: as in config.yaml"},
    "--model": {"nargs": "+", "help": "models with their size as run, such as lstm-n128; default: all of the task"},
    "--root": {"type": Path, "default": Path(), "help": "where the results directory is (default: here)"},
    "--seed": {"nargs": "+", "type": seed, "help": "one or several seeds; default: those that are configured"},
    "--task": {"required": True, "help": "a task of config/tasks.yaml"},
    "--threads": {"type": positive, "help": "CPU threads; default: the scale's"},
}


def parser(description: str | None, *shared: str) -> argparse.ArgumentParser:
    """The parser of a script, with those of the `SHARED` options that are named."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in shared:
        made.add_argument(option, **SHARED[option])
    return made
