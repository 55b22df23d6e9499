"""The available devices."""

from __future__ import annotations

import json
from typing import Any

from ._native import call


def devices() -> list[dict[str, Any]]:
    """List the devices that a ``device`` argument can name, best first.

    Returns
    -------
    devices : list of dict
        For each device, its ``name``; its ``device``, such as ``"cuda:0"``; its ``memory``
        in bytes; and ``cpu``, which is true for a processor under OpenCL. The list is empty
        if there is no driver.

    Examples
    --------
    >>> import boxsum
    >>> all("device" in d for d in boxsum.devices())
    True
    """
    return json.loads(call("devices"))
