"""Where in a vendor's repository a finding points."""

from __future__ import annotations

from pathlib import PurePosixPath

from conformance.log.run_log import RunLog
from conformance.report.visible import visible


def backend_file(run: RunLog) -> str | None:
    """The backend's file, relative to where the check ran; None where it is not a file there.

    A run log knows the backend as the user named it, and nothing of a repository. A relative
    ``path/to/file.py:object`` is taken to lie in one; a name, a module and an absolute path are
    not.
    """
    path, _, _ = str(run.header["backend"]["spec"]).rpartition(":")
    file = PurePosixPath(path.replace("\\", "/"))
    drive = len(path) > 1 and path[1] == ":"
    if file.suffix != ".py" or file.is_absolute() or drive or ".." in file.parts:
        return None
    return visible(str(file)).replace("\n", " ")
