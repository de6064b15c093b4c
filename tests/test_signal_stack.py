"""Handlers of signals have a stack of their own while a network trains, whoever calls the training loop.

Without one, 9 of 9 processes with 200 steps of torch's LSTM amid hundreds of signals a second crashed (torch 2.11).
In processes of their own: pytest enables faulthandler, which makes such a stack.
"""

import json
import sys

import pytest
from conftest import printed_by

CHILD = """
import ctypes, faulthandler, json, signal, sys
from hidden_dynamics.training.interruption import Interruption

class Stack(ctypes.Structure):  # stack_t of Linux
    _fields_ = [("pointer", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]

DISABLED = 2  # SS_DISABLE

def stack():
    # The size of the alternate stack in force for this thread; 0 where there is none.
    found = Stack()
    assert ctypes.CDLL(None).sigaltstack(None, ctypes.byref(found)) == 0
    return 0 if found.flags & DISABLED else found.size

exec(sys.argv[1])
before = stack()
with Interruption():
    within = stack()
print(json.dumps([before, within, faulthandler.is_enabled()]))
"""
STDERR = ("sys.stderr", "None", "__import__('io').StringIO()")


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's stack_t")
@pytest.mark.parametrize("first", [*(f"sys.stderr = {which}" for which in STDERR), "faulthandler.enable()"])
def test_handlers_have_a_stack_of_their_own_whatever_stderr_is_and_faulthandler_stays_as_its_user_set_it(first):
    before, within, enabled = json.loads(printed_by(CHILD, first))
    assert within > 8192 and enabled == (first == "faulthandler.enable()")
    assert before == (within if enabled else 0)
