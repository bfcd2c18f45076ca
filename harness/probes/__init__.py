"""The probes: ``harness/probes/<floor>/<room>.py`` drives ``seams/<floor>/<room>.py``. Imported by workers alone."""
