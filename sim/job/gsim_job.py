# SPDX-License-Identifier: GPL-3.0-or-later
"""For Python programs that run under `gsim drive`: one file without dependencies, to be copied beside the
program. Without `gsim drive` every call does nothing and the program runs as it always did.

    import gsim_job
    i = load(gsim_job.state()) if gsim_job.begin(n) else 0
    while i < n:
        train_one_iteration()
        i += 1
        if gsim_job.iteration(i):
            save(gsim_job.state(), i)
            gsim_job.saved()
            sys.exit(0)
    gsim_job.end()
"""
import os
import socket
import time

_SAY_EVERY_S = 0.01  # iterations may be microseconds long
_talk = socket.socket(fileno=os.dup(int(os.environ["GSIM_JOB_FD"]))) if os.environ.get("GSIM_JOB_FD") else None
_heard = b""
_said_s = 0.0
_in_all = 0


def _say(word, number=0):
    if _talk:
        try:
            _talk.sendall(b"%s %d\n" % (word.encode(), number))
        except OSError:
            pass  # `drive` is gone, and its guard ends the job


def _hear(flags=socket.MSG_DONTWAIT):
    """The next line that has come, or, without flags, that comes. Empty: there is none."""
    global _heard
    try:
        while _talk and b"\n" not in _heard and (more := _talk.recv(4096, flags)):
            _heard += more
    except OSError:
        pass
    line, is_whole, rest = _heard.partition(b"\n")
    if is_whole:
        _heard = rest
    return line if is_whole else b""


def _pause(done):
    """The job stands still until `drive` has it go on, or is gone."""
    _say("paused", done)
    while _hear(0) not in (b"go", b""):
        pass


def begin(iterations=0):
    """The job is ready to compute; it has this many iterations in all (0: it does not know). Returns whether
    an earlier process of the job saved its state, with which this one goes on."""
    global _in_all
    _in_all = iterations
    _say("pauses")
    _say("begin", iterations)
    return "GSIM_JOB_RESUME" in os.environ


def iteration(done):
    """That many iterations of all are done, and the GPU is idle. Returns whether the job is to save its state
    and leave; where the job is to pause, the call returns when its turn comes again."""
    global _said_s
    is_last = 0 < _in_all <= done  # behind it there is nothing to save or to do
    if time.monotonic() - _said_s >= _SAY_EVERY_S:
        _said_s = time.monotonic()
        _say("iteration", done)
    while (line := _hear()) and not is_last:
        if line == b"pause":
            _pause(done)
        if line == b"save":
            return True
    return False


def saved():
    """The state is saved as a whole; the program ends now."""
    _say("saved")


def end():
    """All iterations are done; what follows does not need the GPU."""
    _say("end", time.monotonic_ns())


def state():
    """The name that the job's state is to be saved under: a file or a folder. None without `drive`."""
    return os.environ.get("GSIM_JOB_STATE")
