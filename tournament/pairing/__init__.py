"""The formats: one small file each, which declares `FORMAT`."""
