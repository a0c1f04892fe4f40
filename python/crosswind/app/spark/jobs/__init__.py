"""The code that runs inside Spark: the driver of a trial and its workloads, in the Python that has pyspark.

Nothing here may import Crosswind. The folder is copied into every trial, because the account of the
application may not be able to read the folder where Crosswind is installed.
"""
