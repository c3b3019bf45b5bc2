"""Whether what the standings claim is true: simulated events between bots of known strength.

python -m tests.calibration                 the gate: coverage, P(first), widths; as tables for the docs
python -m tests.calibration --events 20     a fifth of the events, in a fifth of the time
python -m tests.calibration --jobs 4        by four processes, with the same figures
python -m tests.calibration decide          how often `--format decide` is wrong, and what it costs
"""
