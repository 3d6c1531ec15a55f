"""The command line: `ouzel run`, `ouzel explain`, `ouzel demo`."""
