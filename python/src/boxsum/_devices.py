"""Which devices there are."""

from __future__ import annotations

import json
from typing import Any

from ._native import call


def devices() -> list[dict[str, Any]]:
    """List the devices that ``device=`` can name, the best first.

    Each is a dictionary with its ``name``, its ``device``, such as ``"cuda:0"``, its
    ``memory`` in bytes, and ``cpu`` for a processor under OpenCL. The list is empty
    where there is no driver.

    >>> import boxsum
    >>> all("device" in d for d in boxsum.devices())
    True
    """
    return json.loads(call("devices"))
