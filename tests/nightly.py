"""The nightly run: every comparison of engines, on many more random cases than a test run has time for.

python tests/nightly.py --examples 100000 --seed 20261115
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings

sys.path.insert(0, str(Path(__file__).parent))
sys.path[:0] = [str(Path(__file__).parent / folder) for folder in ("engines", "properties")]

# The tests, and the share of all examples that each gets: whatever engine, however it is fed, ...
ENGINES = {
    ("test_automaton", "test_random_closures"): 0.056,
    ("test_automaton", "test_random_closures_in_pieces"): 0.01,
    ("test_automaton", "test_evaluations_agree"): 0.06,
    ("test_scan", "test_random_sequences"): 0.06,
    ("test_scan", "test_equivalence_tests_evaluated_in_every_way"): 0.05,
    ("test_matcher", "test_batches_make_no_difference"): 0.08,
    ("test_matcher", "test_batches_make_no_difference_to_the_reference"): 0.03,
    ("test_scan_batches", "test_any_split_gives_the_same_matches"): 0.02,
    ("test_automaton_batches", "test_any_split_gives_the_same_matches"): 0.02,
    ("test_tie_breakers_in_batches", "test_any_split_gives_what_match_finds"): 0.02,
    ("test_compressed", "test_a_graph_yields_the_rows"): 0.03,
    ("test_totals_over_matches", "test_totals"): 0.04,
    ("test_encodings", "test_engines"): 0.05,
    ("test_encodings", "test_batches"): 0.05,
    ("test_random_functions", "test_engines"): 0.03,
    ("test_random_functions", "test_batches"): 0.03,
    ("test_every_kind_of_value", "test_engines_agree"): 0.05,
    ("test_every_kind_of_value", "test_batches_make_no_difference"): 0.03,
    ("test_composite_events", "test_programs"): 0.03,
    ("test_composite_events", "test_programs_by_the_scan"): 0.01,
    ("test_composite_events", "test_programs_in_batches"): 0.03,
    ("test_long_patterns", "test_random_events"): 0.002,
    ("test_threads", "test_scan"): 0.03,
    ("test_threads", "test_whatever_engine"): 0.028,
    ("test_tree", "test_random_combinations"): 0.05,
    ("test_tree", "test_every_order_of_joins"): 0.03,
    ("test_tree", "test_batches_make_no_difference"): 0.03,
    ("test_tree_adapts", "test_orders_may_change_after_any_round"): 0.005,
    ("test_tree_adapts", "test_orders_may_change_after_any_batch"): 0.005,
    ("test_tree_adapts", "test_types_that_lack_the_key"): 0.005,
    ("test_tree", "test_rounds_make_no_difference"): 0.005,
    ("test_tree", "test_negation_pushed_down_or_on_top"): 0.02,
    ("test_algebra_automaton", "test_linear_plus_expressions"): 0.03,
    ("test_algebra_automaton", "test_any_expressions"): 0.02,
    ("test_algebra_automaton", "test_batches_make_no_difference"): 0.02,
    ("test_algebra_automaton", "test_evaluations_agree"): 0.01,
    ("test_algebra_automaton", "test_events_that_last"): 0.02,
    ("test_algebra_automaton", "test_what_is_forgotten_makes_no_difference"): 0.01,
    ("test_algebra_automaton", "test_threads_make_no_difference"): 0.01,
    ("test_shared", "test_expressions"): 0.01,
    ("test_shared", "test_events_that_last"): 0.01,
    ("test_shared", "test_batches_make_no_difference"): 0.005,
    ("test_shared", "test_texts"): 0.01,
    ("test_many_queries", "test_a_set_finds_what_each_finds_alone"): 0.005,
    ("test_many_queries", "test_a_list_of_sets_finds_what_each_finds"): 0.002,
    ("test_many_queries", "test_queries_that_come_and_go"): 0.005,
    ("test_patterns_that_change", "test_patterns"): 0.01,
    ("test_patterns_that_change", "test_engines_agree"): 0.01,
    ("test_arcs_that_come_and_go", "test_whole_automata"): 0.01,
    ("test_sets_that_change", "test_texts"): 0.005,
    ("test_sets_that_change", "test_expressions"): 0.005,
    ("test_sets_that_change", "test_one_plan_finds_what_they_find_one_by_one"): 0.005,
    ("test_automata_properties", "test_engines_agree"): 0.03,
    ("test_automata_properties", "test_the_end_of_the_window"): 0.03,
    ("test_automata_properties", "test_what_is_chosen_agrees"): 0.02,
    ("test_automata_properties", "test_any_split_agrees"): 0.02,
    # to compile takes seconds each
    ("test_algebra_automaton", "test_compiled"): 0.0005,
    ("test_scan", "test_random_sequences_compiled"): 0.001,
    ("test_automaton", "test_random_closures_compiled"): 0.001,
    ("test_every_kind_of_value", "test_compiled"): 0.0005,
    ("test_encodings", "test_compiled"): 0.0005,
    ("test_matcher", "test_batches_make_no_difference_compiled"): 0.0005,
    ("test_composite_events", "test_programs_compiled"): 0.0005,
    ("test_tree", "test_random_combinations_compiled"): 0.0005,
}
# ... and events that come late, are withdrawn, or meet other arcs.
CORRECTIONS = {
    ("test_random_corrections", "test_queries"): 0.2,
    ("test_random_corrections", "test_total_orders"): 0.05,
    ("test_random_corrections", "test_programs"): 0.03,
    ("test_random_corrections", "test_expressions"): 0.12,
    ("test_random_corrections", "test_events_that_last"): 0.03,
    ("test_random_corrections", "test_encodings"): 0.05,
    ("test_random_corrections", "test_lists"): 0.02,
    ("test_random_corrections", "test_checkpoints"): 0.07,
    ("test_random_corrections", "test_regions"): 0.07,
    ("test_random_corrections", "test_automata"): 0.09,
    ("test_random_corrections", "test_automata_where_much_happens"): 0.08,
    ("test_random_corrections", "test_automata_that_ignore_events"): 0.09,
    ("test_arcs_that_come_and_go", "test_in_order"): 0.03,
    ("test_arcs_that_come_and_go", "test_in_any_order"): 0.03,
    ("test_sequence_numbers", "test_any_order_of_arrival"): 0.02,
    ("test_sequence_numbers", "test_what_is_set_aside_does_not_depend_on_batches"): 0.01,
    ("test_sequence_numbers", "test_what_is_set_aside_of_corrections_does_not_depend_on_batches"): 0.01,
    ("test_corrected_patterns_that_change", "test_patterns"): 0.01,
    ("test_corrected_parameters_that_change", "test_as_in_order"): 0.01,
    # to compile takes seconds each
    ("test_random_corrections", "test_compiled"): 0.0005,
}
SUITES = {"engines": ENGINES, "corrections": CORRECTIONS}
# What pytest would give them.
ARGUMENTS = {
    ("test_tie_breakers_in_batches", "test_any_split_gives_what_match_finds"): {"engine": "auto"},
    ("test_totals_over_matches", "test_totals"): {"engine": "auto"},
    ("test_encodings", "test_engines"): {"engine": "auto"},
}


def run(job: tuple[str, str, int, int]) -> tuple[str, bool]:
    """Run one test on many examples: what there is to say of it, and whether it is well."""
    module, name, examples, number = job
    test: Any = getattr(__import__(module), name)
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    test._hypothesis_internal_use_settings = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=checks,
    )
    began = time.perf_counter()
    try:
        # not in the main thread, which hands over what Ctrl-C is to stop, and waits for it: that takes its time
        with ThreadPoolExecutor(1) as apart:
            apart.submit(seed(number)(test), **ARGUMENTS.get((module, name), {})).result()
    except BaseException:
        return f"{module}.{name} FAILED (seed {number}):\n{traceback.format_exc()}", False
    return f"{module}.{name}: {examples:,} examples, {time.perf_counter() - began:,.0f} s", True


def main() -> None:
    """Run all of them, in as many processes as there are processors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=20261115)
    parser.add_argument("--suite", choices=SUITES, help="only these; all if not given, each with so many")
    parser.add_argument("--only", default="", help="only tests whose names begin so")
    options = parser.parse_args()
    jobs = []
    shares = [one for suite in ([options.suite] if options.suite else SUITES) for one in SUITES[suite].items()]
    for number, ((module, name), share) in enumerate(shares):
        # in pieces, so that all processes have something to do until the end
        whole = max(1, round(options.examples * share))
        pieces = max(1, whole // 2_500)
        if name.startswith(options.only) or module.startswith(options.only):
            jobs += [(module, name, -(-whole // pieces), options.seed + 1_000 * number + p) for p in range(pieces)]
    done = failed = 0
    # a process that dies ends the run, with an error; a test that fails only the run as a whole
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        running = {pool.submit(run, job): job for job in jobs}
        for one in as_completed(running):
            line, is_well = one.result()
            done, failed = done + running[one][2], failed + (not is_well)
            print(line, f"({done:,} in all)", flush=True)
    print(f"{done:,} examples, {failed} of {len(jobs)} jobs failed", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
