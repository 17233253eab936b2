"""What the rules need from the library: the files and parameters of each job, by its wildcards."""
