"""Types of the scripts' arguments, for argparse: each takes the text and gives the number.

Raises, all of them: argparse.ArgumentTypeError where the number is out of bounds, ValueError where the text is none.
"""

import argparse


def seed(text: str) -> int:
    """A seed that NumPy takes too: a whole number of 32 bits, 0 or more."""
    return within(int(text), 0, 2**32 - 1)


def positive(text: str) -> int:
    """A count: a whole number, 1 or more."""
    return within(int(text), 1, 2**31 - 1)


def within(number: int, least: int, most: int) -> int:
    """The number itself, if it is neither below `least` nor above `most`."""
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"{number} is not within {least} and {most}")
    return number
