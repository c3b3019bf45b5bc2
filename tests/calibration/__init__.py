"""Whether what the standings claim is true: simulated events between bots of known strength.

python -m tests.calibration                 the gate: coverage, P(first), widths; as tables for the docs
python -m tests.calibration --events 20     a tenth of the events, in a tenth of the time
python -m tests.calibration decide          how often `--format decide` is wrong, and what it costs
"""
