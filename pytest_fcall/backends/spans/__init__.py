"""Spans of OpenTelemetry that apps export to the run: received, read, and assigned to cases."""
