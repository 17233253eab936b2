"""The objectives: functions that return the loss of quadruples."""
