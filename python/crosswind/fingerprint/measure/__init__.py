"""The measurements of a fingerprint, one file each, and the two ends that they run on."""
