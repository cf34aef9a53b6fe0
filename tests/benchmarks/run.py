"""All benchmarks, in one table: ``python tests/benchmarks/run.py`` (about half an hour)."""

from __future__ import annotations

import bench_check
import bench_diagnosis
import bench_exact
import bench_first_check
import bench_generate
import bench_packed
import bench_program
import bench_reference
import bench_report
import bench_start
import bench_suite_reading
import measure

if __name__ == "__main__":
    measure.run(
        bench_start.bench,
        bench_start.lookups,
        bench_suite_reading.bench,
        bench_packed.bench,
        bench_reference.bench,
        bench_exact.bench,
        bench_check.bench,
        bench_first_check.bench,
        bench_program.bench,
        bench_diagnosis.bench,
        bench_generate.bench,
        bench_report.bench,
    )
