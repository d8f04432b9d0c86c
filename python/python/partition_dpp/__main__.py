"""The command line: `python -m partition_dpp`, or `pdpp`."""

import os
import sys

from ._native import _command_line, _refuse_closed_output


def main() -> int:
    """Runs `pdpp` with the arguments of the process."""
    if sys.stdout is None:
        return _refuse_closed_output()
    # Without this folder, a layer of Mesa that looks for a compositor prints errors; this one holds none.
    os.environ.setdefault("XDG_RUNTIME_DIR", "/nonexistent")
    return _command_line(["pdpp", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
