"""Options for glibc's malloc: environment variables that a job reads when it starts.

By default glibc returns large freed blocks to the system, and training then requests them again,
page by page, in its next step. `memory kept` in docs/performance.md has the cost.
"""

MALLOC_OPTIONS = {
    "MALLOC_MMAP_MAX_": "0",  # do not map large blocks separately
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),  # keep freed memory
    "MALLOC_TOP_PAD_": str(1 << 26),  # request memory in large pieces
}
