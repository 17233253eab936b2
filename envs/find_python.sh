#!/bin/sh
# Print the Python that .venv is made with: the newest supported one that can make environments and has the headers
# for building fastText. Exit with 1, and say what to do, when there is none. $PYTHON names the only one to consider.

usable='
import ensurepip, os, sys, sysconfig, venv
sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13)
         or not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))'

found=
for python in ${PYTHON:-python3.13 python3.12 python3.11 python3}; do
  if "$python" -c "$usable" 2>/dev/null; then
    echo "$python"
    exit 0
  fi
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) && found="$found $python ($version)"
done

cat >&2 <<END
analogyqa needs Python 3.11, 3.12 or 3.13 with its venv module and headers. Tried ${PYTHON:-python3.13, python3.12, python3.11 and python3};
of these here:${found:- none}. Install one (Debian and Ubuntu: apt-get install python3-venv python3-dev gcc g++ make),
or name one: make demo PYTHON=/path/to/python3.12
END
exit 1
