"""Inputs, parameters and outputs of each job."""
