"""`python -m outrider_ray`."""

from __future__ import annotations

import sys

from .trial import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
