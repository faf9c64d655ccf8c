"""A cluster of Spark on loopback: a master, and workers with one core each."""

import contextlib
import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import pyspark
from pyspark.sql import SparkSession

HOST = "127.0.0.1"


class Cluster:
    """Servers that end with it."""

    def __init__(self, folder, workers=2, memory="1g"):
        self.folder, self.workers, self.session = pathlib.Path(folder), [], None
        self.environment = {
            **os.environ,
            "SPARK_HOME": os.path.dirname(pyspark.__file__),
            "SPARK_LOCAL_IP": HOST,
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_DRIVER_PYTHON": sys.executable,
        }
        self.master = None
        try:
            self._start_all(workers, memory)
        except BaseException:
            self.stop()
            raise

    def _start_all(self, workers, memory):
        self.master, log = self._start("master", "master.Master", "--host", HOST, "--port", "0", "--webui-port", "0")
        self.address = _told(log, r"spark://[\w.]+:\d+", self.master)
        for number in range(workers):
            words = ["--host", HOST, "--cores", "1", "--memory", memory, "--webui-port", "0"]
            worker, log = self._start(f"worker-{number}", "worker.Worker", *words, "--work-dir", str(self.folder / "work"), self.address)
            self.workers.append(worker)
            _told(log, "Successfully registered with master", worker)

    def _start(self, name, kind, *words):
        log = self.folder / f"{name}.log"
        program = os.path.join(self.environment["SPARK_HOME"], "bin", "spark-class")
        with open(log, "wb") as output:
            words = [program, f"org.apache.spark.deploy.{kind}", *words]
            return subprocess.Popen(words, env=self.environment, stdout=output, stderr=output, start_new_session=True), log

    def spark(self, **settings):
        """A session on the cluster. It writes down what its tasks shuffle."""
        os.environ.update({name: self.environment[name] for name in ("SPARK_LOCAL_IP", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")})
        events = self.folder / "events"
        events.mkdir(exist_ok=True)
        builder = SparkSession.builder.master(self.address).appName("twinset")
        told = {
            "spark.ui.enabled": "false",
            "spark.driver.host": HOST,
            "spark.sql.shuffle.partitions": "4",
            "spark.executor.memory": "700m",
            "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.dir": events.as_uri(),
            **settings,
        }
        for name, value in told.items():
            builder = builder.config(name, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")
        return self.session

    def shuffled(self):
        """How many bytes tasks have written for others so far."""
        time.sleep(1)
        total = 0
        for path in glob.glob(str(self.folder / "events" / "*")):
            for line in open(path, encoding="utf-8"):
                # The last line may be half written.
                with contextlib.suppress(json.JSONDecodeError):
                    event = json.loads(line) if "SparkListenerTaskEnd" in line else {}
                    total += ((event.get("Task Metrics") or {}).get("Shuffle Write Metrics") or {}).get("Shuffle Bytes Written", 0)
        return total

    def kill_worker(self):
        """Ends a worker and what it runs, without a word of warning."""
        worker = self.workers.pop()
        processes = _descendants(worker.pid)
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, 9)
        worker.wait()
        self.killed = len(processes)

    def stop(self):
        """Ends everything."""
        with contextlib.ExitStack() as stack:
            for process in filter(None, [self.master, *self.workers]):
                stack.callback(_end, process)
            if self.session is not None:
                self.session.stop()


def _end(process):
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _told(log, pattern, process):
    """Waits for words in a log."""
    for _ in range(600):
        found = re.search(pattern, log.read_text(errors="replace"))
        if found:
            return found[0]
        assert process.poll() is None, log.read_text(errors="replace")
        time.sleep(0.1)
    raise TimeoutError(log.read_text(errors="replace"))


def _descendants(process):
    """A process and all that it has started; the youngest first."""
    found = [int(child) for path in glob.glob(f"/proc/{process}/task/*/children") for child in pathlib.Path(path).read_text().split()]
    return [one for child in found for one in _descendants(child)] + [process]
