"""Parquet without its near duplicates, on a cluster of Spark:

    spark-submit examples/spark_dedup.py crawl.parquet kept.parquet --text body --tokens shingles:5 --threshold 0.8
"""

import argparse

from pyspark.sql import SparkSession
from twinset import spark as twins

parser = argparse.ArgumentParser(description="Writes Parquet without near duplicates.")
parser.add_argument("input")
parser.add_argument("output")
parser.add_argument("--id", default="id")
parser.add_argument("--text", default="text")
parser.add_argument("--threshold", default="0.8")
parser.add_argument("--tokens", default="words")
parser.add_argument("--keep", default="first", help="first, longest, max:COLUMN or min:COLUMN")
options = parser.parse_args()

spark = SparkSession.builder.appName("near duplicates").getOrCreate()
docs = spark.read.parquet(options.input)
found = twins.dedup(docs, id=options.id, text=options.text, threshold=options.threshold, tokens=options.tokens, keep=options.keep)
found.kept.write.mode("error").parquet(options.output)
print(f"{found.kept.count()} of {docs.count()} records kept")
found.unpersist()
