"""Becomes a program that ends with the process that started it, however that ends. Linux only.

A script, run by :mod:`conformance.run.process`: a runner that hangs does not see that its run was
killed. What is asked of the system here outlives the change into the program.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Do so. The arguments are the process to live for, and the words of a command."""
    parent, words = int(sys.argv[1]), sys.argv[2:]
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(1)
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvp(words[0], words)  # noqa: S606 - no shell
    except OSError as error:
        sys.exit(f"{words[0]} cannot be run: {error.strerror}")


if __name__ == "__main__":
    main()
