"""Speed, as ratios in one run: machines are shared and noisy, so each figure stands beside its reference."""
