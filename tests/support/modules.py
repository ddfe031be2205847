# SPDX-License-Identifier: Apache-2.0
"""The programs that read modulefiles, where distributions put them."""

import glob
import shlex

MODULES = {"Environment Modules": ["/usr/lib/*/modulecmd.tcl", "/usr/share/Modules/libexec/modulecmd.tcl"],
           "Lmod": ["/usr/share/lmod/*/libexec/lmod"]}


def module_function(program):
    """Text that defines `module` for bash, or None if the program is not installed."""
    found = sorted(path for pattern in MODULES[program] for path in glob.glob(pattern))
    return f'module() {{ eval "$({shlex.quote(found[-1])} bash "$@")"; }}\n' if found else None
