"""The command line: `python -m partition_dpp`, or `pdpp`."""

import sys

from ._native import _command_line


def main() -> int:
    """Runs `pdpp` with the arguments of the process."""
    return _command_line(["pdpp", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
