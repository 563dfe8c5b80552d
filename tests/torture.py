"""What `make test` leaves to `make torture`: repetition and depth, never the only test of something.

A row names a test and says which of its cases stay in `make test`:

| value          | what stays                                                             |
|----------------|------------------------------------------------------------------------|
| a number k > 1 | every k-th case in the order of collection, from the first one on      |
| 0              | none; other tests show the same on fewer cases                         |
| some ids       | all cases but these                                                    |

k shares no factor with the inner parameters of its test, so that what stays meets every value of each of them. A test
can also bear the mark `torture` itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import pytest

Left = int | tuple[str, ...]

LEFT: dict[str, Left] = {
    # random functions, problems and programs by their seed
    "test_truth.py::test_no_value_of_a_random_function_is_below_what_is_claimed": 7,
    "test_truth.py::test_no_region_that_holds_a_planted_minimiser_is_discarded": 5,
    "test_truth.py::test_no_region_that_holds_the_minimiser_of_a_problem_is_discarded": 3,
    "test_truth.py::test_a_stopped_run_tells_the_truth": 5,
    "test_effort.py::test_no_box_is_lost_whenever_time_is_up": 5,
    "test_effort.py::test_a_search_that_is_late_at_any_moment_leaves_every_minimiser": 3,
    "test_truth.py::test_no_hostile_strategy_makes_a_result_false": 5,
    "test_strategies.py::test_no_strategy_makes_a_result_false": 7,
    "test_spellings.py::test_a_maximum_of_the_negative_is_the_same_fit": 5,
    "test_chain.py::test_a_chain_leaves_what_its_reference_leaves": 51,
    "test_planted.py::test_no_claim_about_a_planted_problem_is_false": 83,
    "test_vm.py::test_a_random_program_computes_what_it_says": 7,
    "test_goals.py::test_success_is_never_claimed_on_functions_with_edges": 3,
    "test_sharper.py::test_quadratics_of_random_expressions_are_enclosed_and_contracted": 3,
    "test_facts_at_jumps.py::test_no_random_function_with_jumps_is_claimed_to_be_what_it_is_not": 3,
    "test_facts_at_jumps.py::test_no_random_function_with_jumps_loses_its_minimiser": 3,
    "test_trace_views.py::test_random_programs_of_views_and_writes_agree_with_numpy": 3,
    "test_controls.py::test_any_choice_of_contractors_is_true": 3,
    # emitted text: what takes long is its compilation, by the host's compiler or by NVRTC
    "test_emit.py::test_sixty_random_functions_have_the_bits_of_the_virtual_machine": 0,
    "test_emit.py::test_hand_made_programs_have_the_bits_of_the_virtual_machine": 2,
    "test_emit.py::test_the_papers_functions_have_the_bits_of_the_virtual_machine": 2,
    "test_emit.py::test_nvrtc_compiles_the_papers_functions_and_contracts_nothing": 5,
    "test_emit.py::test_nvrtc_compiles_every_team_and_mode": 5,
    "test_auto_cuda.py::test_a_search_on_emitted_text_has_the_bits_of_the_cpu": 6,
    "test_backends.py::test_a_search_on_a_gpu_has_the_bits_of_one_on_the_cpu": 5,
    "test_backends.py::test_children_and_best_points_are_the_same_however_the_work_is_cut": ("many equal values",),
    "test_backends.py::test_nvrtc_compiles_kernels_that_read_children": 4,
    "test_device_staging.py::test_the_kernels_of_every_problem_compile": 5,
    "test_device_staging.py::test_a_search_on_a_device_ends_with_the_same_answer": 5,
    "test_device_staging.py::test_a_search_stopped_after_some_iterations_leaves_the_same_boxes": 3,
    "test_device_staging.py::test_a_search_with_as_many_threads_as_on_a_gpu_ends_with_the_same_answer": 2,
    "test_device_staging.py::test_the_order_of_threads_between_two_barriers_does_not_matter": 5,
    # single cases of many seconds beside short ones of the same kind
    "test_effort.py::test_a_chain_of_any_length_is_searched_and_stopped_in_time": ("30000-auto", "30000-paper"),
    "test_limits.py::test_the_infimum_is_proved_however_it_is_written": ("(cosh(x) - 1)/x^2",),
}


def _stays(left: Left, number: int, item: pytest.Function) -> bool:
    if isinstance(left, tuple):
        return item.callspec.id not in left
    return left > 0 and number % left == 0


def mark(items: Iterable[pytest.Item]) -> None:
    """Give the mark `torture` to every case that `make test` leaves out."""
    cases = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function):
            cases[f"{item.path.name}::{item.originalname}"].append(item)
    for name, left in LEFT.items():
        for number, item in enumerate(cases[name]):
            if not _stays(left, number, item):
                item.add_marker("torture")
