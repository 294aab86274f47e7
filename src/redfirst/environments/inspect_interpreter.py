# SPDX-License-Identifier: Apache-2.0
"""Run by a candidate interpreter with ``-I -S``: prints what it is as JSON; reads no site-packages code.

Written for every Python since 3.6, hence without annotations.
"""

import json
import os
import platform
import site
import sys
import sysconfig

SHORT = f"{sys.version_info[0]}.{sys.version_info[1]}"


def environment_folder(executable):  # type: ignore[no-untyped-def]
    """The virtual environment's folder that this executable belongs to, or None."""
    for folder in (os.path.dirname(executable), os.path.dirname(os.path.dirname(executable))):
        if os.path.isfile(os.path.join(folder, "pyvenv.cfg")):
            return folder
    return None


def markers():  # type: ignore[no-untyped-def]
    """The variables of environment markers, as the interpreter's own installer would set them."""
    name = sys.implementation.name
    version = ".".join(str(part) for part in sys.implementation.version[:3])
    return {
        "implementation_name": name,
        "implementation_version": version,
        "os_name": os.name,
        "platform_machine": platform.machine(),
        "platform_release": platform.release(),
        "platform_system": platform.system(),
        "platform_version": platform.version(),
        "python_full_version": platform.python_version(),
        "platform_python_implementation": platform.python_implementation(),
        "python_version": SHORT,
        "sys_platform": sys.platform,
    }


def main():  # type: ignore[no-untyped-def]
    """Print one JSON object."""
    executable = sys.executable
    venv = environment_folder(executable)  # type: ignore[no-untyped-call]
    prefix = venv or sys.prefix
    bases = [prefix]
    system_too = venv is None
    if venv is not None:
        with open(os.path.join(venv, "pyvenv.cfg"), encoding="utf-8") as file:
            settings = dict(
                [part.strip() for part in line.split("=", 1)]
                for line in file.read().splitlines()
                if "=" in line
            )
        system_too = settings.get("include-system-site-packages", "false").lower() == "true"
        if system_too:
            bases.append(sys.base_prefix)
    sys.prefix = prefix
    sites = [os.path.join(prefix, "lib", "python" + SHORT, "site-packages")]
    for base in bases:
        sys.prefix = base
        sites.extend(site.getsitepackages([base]))
    seen = []  # type: ignore[var-annotated]
    for folder in sites:
        if os.path.isdir(folder) and os.path.realpath(folder) not in [
            os.path.realpath(item) for item in seen
        ]:
            seen.append(folder)
    print(
        json.dumps(
            {
                "executable": executable,
                "version": platform.python_version(),
                "implementation": sys.implementation.name,
                "platform": sysconfig.get_platform(),
                "prefix": prefix,
                "virtual": venv is not None,
                "base_prefix": sys.base_prefix,
                "base_exec_prefix": sys.base_exec_prefix,
                "sites": seen,
                "markers": markers(),  # type: ignore[no-untyped-call]
            }
        )
    )


main()  # type: ignore[no-untyped-call]
