"""What did the compaction throw away, and can it be proven?

The embedded engine: pure checks over bytes, and a few named acts that touch disk. It opens no network connection
and imports no screen library. It does not prove that dropping was wise, nor that the input of a compaction was
complete.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("winnow-audit")
except PackageNotFoundError:  # running from an unpacked tree without installation
    __version__ = "0+unknown"
