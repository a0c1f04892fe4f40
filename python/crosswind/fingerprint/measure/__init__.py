"""What a fingerprint measures, a file for each measurement, and the two ends that it runs on."""
