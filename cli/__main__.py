# SPDX-License-Identifier: Apache-2.0
"""``python -m ropeway.cli``: the same as ``ropeway``."""

import sys

from . import main

sys.exit(main())
