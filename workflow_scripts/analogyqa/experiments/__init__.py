"""What the rules ask of the library: the files and the values of each job, by its wildcards."""
