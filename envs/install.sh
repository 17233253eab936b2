#!/bin/sh
# Set up .venv: requirements.lock, and this checkout as an editable package. `make` runs it before each target; it does
# nothing when all is installed, and starts over when Python is another one: $PYTHON where that is given, else that of
# .venv as long as it works and is supported.
set -eu
stamp=.venv/.installed
identify='import sys; print(sys.version, sys.base_prefix)'

fail() { echo "$*" >&2; exit 1; }
cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}
mkdir -p "$cache/snakemake" 2>/dev/null ||
  fail "Snakemake cannot write to $cache. Name another folder for caches: XDG_CACHE_HOME=/path/to/folder make ..."

python=
if [ -z "${PYTHON:-}" ]; then python=$(PYTHON=.venv/bin/python sh envs/find_python.sh 2>/dev/null) || true; fi
if [ -z "$python" ]; then python=$(sh envs/find_python.sh); fi
interpreter=$("$python" -c "$identify")
state="$interpreter $(pwd) $(cat requirements.lock pyproject.toml | cksum)"
if [ "$state" = "$(cat $stamp 2>/dev/null)" ]; then exit 0; fi

[ -w . ] || fail "$(pwd) cannot be written, so .venv cannot be set up in it. Make a copy that can be, and start there."
if [ "$interpreter" != "$(.venv/bin/python -c "$identify" 2>/dev/null)" ]; then
  rm -rf .venv
  "$python" -m venv .venv
fi
rm -f $stamp
echo "Installing into .venv with Python ${interpreter%% *}" >&2
pip() { .venv/bin/python -m pip --disable-pip-version-check --quiet "$@"; }
# PyTorch's CPU build where there is no NVIDIA driver: the ordinary one brings gigabytes of CUDA. `TORCH_INDEX=` (empty)
# takes the ordinary one.
if [ ! -e /proc/driver/nvidia/version ]; then index=https://download.pytorch.org/whl/cpu; fi
index=${TORCH_INDEX-${index:-}}
if [ -n "$index" ]; then
  pip install --retries 0 --no-deps --index-url "$index" "$(grep '^torch==' requirements.lock)" >/dev/null 2>&1 ||
    echo "$index cannot be reached; installing the ordinary build of PyTorch" >&2
fi
pip install --requirement requirements.lock
pip install --no-deps --editable .
echo "$state" > $stamp
