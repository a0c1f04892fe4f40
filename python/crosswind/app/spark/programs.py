"""What Spark needs: pyspark in a private Python environment, and Java; and the environment variables."""

from pathlib import Path

from crosswind.app.requirements import DebianPackages, MavenArtifacts, PythonPackages

# pyspark's machine learning needs NumPy. DuckDB 1.1.3 makes the data of TPC-H and TPC-DS: later wheels do not
# have these two extensions and would download them.
PYSPARK = PythonPackages("pyspark", ("pyspark==4.3.0", "numpy==2.4.6", "duckdb==1.1.3"))
# Name node and data node. Two of their dependencies have the same logging classes a second time.
HDFS = MavenArtifacts(
    "hdfs",
    tuple(
        f"org.apache.hadoop:{name}:3.3.6" for name in ("hadoop-hdfs", "hadoop-hdfs-client", "hadoop-common")
    ),
    without=("org.slf4j:slf4j-log4j12", "log4j:log4j"),
)
JAVA = DebianPackages("java", ("default-jre-headless",), programs=("java",))


def python() -> Path:
    """Return the interpreter of the driver and of every worker, which must be the same."""
    return PYSPARK.program("python").path


def spark_home() -> Path:
    """Return the folder of Spark's programs and archives."""
    return PYSPARK.site_packages / "pyspark"


def java() -> Path:
    """Return the Java program itself, not the link to it on PATH."""
    return JAVA.program("java").path.resolve()


def environment() -> dict[str, str]:
    """Return the environment variables of every process of Spark."""
    return {
        **JAVA.env,
        "JAVA_HOME": str(java().parents[1]),
        "SPARK_HOME": str(spark_home()),
        "PYSPARK_PYTHON": str(python()),
        "PYSPARK_DRIVER_PYTHON": str(python()),
    }
