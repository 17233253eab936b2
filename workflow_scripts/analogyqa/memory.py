"""What glibc is told about the memory of jobs: environment variables, read when a job starts.

It gives large blocks back to the system as soon as they are freed, and takes them again, page by
page, in the next step of a training (`memory kept` in docs/performance.md has what that costs).
"""

MALLOC_OPTIONS = {
    "MALLOC_MMAP_MAX_": "0",  # no block is a mapping of its own
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),  # what is freed stays
    "MALLOC_TOP_PAD_": str(1 << 26),  # and what is taken is taken in large pieces
}
