"""What may a key be used for?"""

from __future__ import annotations

from enum import StrEnum


class Purpose(StrEnum):
    """What a signature is made for; it is part of the signed bytes, so none serves in another place."""

    RECEIPT = "receipt"
    """The result of one span audit."""
    APPROVAL = "approval"
    """One approver's word on one plan."""
    SEGMENT = "segment"
    """The footer of a sealed segment."""
    KEYRING = "keyring"
    """One version of the keyring."""
