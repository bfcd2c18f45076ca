"""What must not fail open: for each way in which a comparison went green, or red, for no reason, the tests of it.

By the number of the report, or the name of the hazard; ``here`` stands for this package. A test of another package is
named and not repeated; that each exists is tested.

1 (a base of another machine, three times stale)
    here.test_machines::test_a_base_of_another_machine_neither_passes_nor_blocks
    here.test_machines::test_a_base_of_long_ago_has_lost_its_machine
    tests.harness.judge.test_independent::test_not_knowing_the_machine_is_not_the_same_machine
2 (the runner changed and the code was blamed)
    here.test_machines::test_a_base_of_another_machine_neither_passes_nor_blocks
    tests.harness.judge.test_independent::test_another_machine_is_no_baseline_and_the_field_is_named
3 (nothing matched, and green)
    here.test_nothing_compared::test_what_has_no_partner_is_code_5_whatever_the_rest_says
    here.test_nothing_compared::test_a_selection_in_which_nothing_gates_is_no_pass
    tests.harness.gating.test_gate_command::test_what_only_the_head_has_is_new_and_nothing_was_compared
    tests.harness.gating.test_pytest_mode::test_a_suite_that_is_gone_is_not_a_pass
4 (base and head in blocks)
    here.test_samples::test_a_machine_that_slows_down_under_the_gate_is_in_both_sides
    tests.harness.measure.test_pairs::test_the_sides_are_released_in_turn_as_the_plan_says
    tests.harness.judge.test_sequence::test_a_null_of_any_kind_is_never_accused
5 (more samples of another processor)
    here.test_machines::test_more_samples_of_another_processor_make_it_no_more_certain
    tests.harness.formats.test_pyperf_json::test_runs_of_two_machines_are_not_one_sample
6 (constant samples)
    here.test_samples::test_samples_without_spread_are_read_as_they_stand
    tests.harness.judge.test_independent::test_all_equal_is_ok_with_a_warning
    tests.harness.judge.test_sequence::test_identical_constant_samples_are_ok_and_say_resolution
    tests.harness.judge.test_sequence::test_all_equal_samples_that_changed_are_reported
7 (regressed, exit 0)
    here.test_nothing_compared::test_every_verdict_has_an_exit_code_of_its_own
    tests.harness.gating.test_gate_page::test_unknown_never_ends_with_zero
8 (one exit code for several causes)
    here.test_nothing_compared::test_every_verdict_has_an_exit_code_of_its_own
    here.test_nothing_compared::test_the_codes_that_exist_are_the_codes_that_the_readme_explains
    tests.harness.gating.test_gate_command::test_an_unusable_gate_gets_one_sentence
9 (units and directions)
    here.test_units::test_a_rate_that_rises_passes_and_a_time_that_rises_does_not
    here.test_units::test_milliseconds_are_refused_and_not_read_as_seconds
    tests.harness.judge.test_independent::test_units_and_directions_are_never_mixed
    tests.harness.judge.test_sequence::test_the_sign_follows_the_direction
10 (huge parameters)
    here.test_size::test_a_parameter_of_a_megabyte_leaves_no_trace_but_its_digest
    here.test_size::test_what_is_too_large_is_refused_by_the_name_of_the_benchmark
    tests.harness.measure.test_answer::test_an_answer_without_end_is_cut_off
11 (frozen and coarse clocks)
    here.test_clocks::test_loops_are_not_looked_for_on_a_clock_that_cannot_tell
    here.test_clocks::test_a_value_needs_a_thousand_ticks
    tests.harness.judge.test_independent::test_a_coarse_clock_is_inconclusive
    tests.harness.judge.test_sequence::test_a_tick_of_fifteen_milliseconds_decides_nothing
12 (an interruption loses hours)
    here.test_interruption::test_every_pair_before_the_signal_is_kept_and_none_is_run_again
    tests.harness.cli.test_run_command::test_a_signal_keeps_what_was_measured_and_resume_goes_on
    tests.harness.cli.test_run_command::test_kill_9_then_resume_keeps_every_finished_process
    tests.harness.record.test_journal::test_a_writer_that_is_killed_loses_nothing_that_it_had_appended
13 (NaN and infinity)
    here.test_numbers::test_a_file_with_what_is_no_time_gives_no_verdict_but_a_place
    here.test_numbers::test_a_gate_file_is_not_written_with_what_is_no_number
    tests.harness.formats.test_pyperf_json::test_what_pyperf_cannot_hold_is_refused_in_a_sentence
    tests.harness.record.test_run::test_a_number_that_is_not_finite_is_refused_with_its_path
    tests.harness.measure.test_worker::test_a_tally_that_is_no_number_is_undefined
14 (cold starts)
    here.test_warming::test_a_slow_first_value_that_the_median_rests_on_is_not_judged
    here.test_warming::test_a_fast_first_value_is_said_too
    tests.harness.jobs.test_notices::test_each_threshold_from_both_sides
    tests.harness.judge.test_interference::test_a_slow_first_pair_needs_both_sides
15 (encodings)
    here.test_encodings::test_a_name_outlives_any_locale_in_a_file_and_is_escaped_on_the_console
    here.test_encodings::test_what_is_printed_by_ourselves_needs_no_wide_character
    tests.harness.cli.test_streams::test_an_output_without_a_character_is_no_fault
    tests.harness.formats.test_pyperf_json::test_foreign_encodings_and_torn_files_are_sentences
16 (counts that do not repeat)
    tests.harness.judge.test_exact::test_counts_that_do_not_repeat_are_demoted
    tests.harness.gating.test_gate_command::test_a_count_that_hangs_on_the_hash_is_demoted_and_never_passes
    tests.harness.measure.legs.test_instructions::test_counts_that_disagree_are_demoted
17 (another build of the same source)
    here.test_samples::test_a_bias_of_the_build_within_three_floors_is_nobodys_regression
    tests.harness.measure.test_pairs::test_a_schedule_is_a_function_of_its_seed_and_favours_no_side
    tests.harness.judge.test_rule::test_delta_is_three_floors_and_at_least_one_percent
18 (single spikes)
    here.test_samples::test_one_slow_pair_never_alarms_wherever_it_stands
    here.test_samples::test_spikes_in_three_of_a_hundred_processes_never_alarm_and_hide_no_change
    tests.harness.judge.test_independent::test_a_few_spikes_change_nothing
19 (the wrong module)
    here.test_workers::test_a_subject_that_comes_from_another_tree_is_no_number_even_if_it_comes_late
    tests.harness.subject.test_under_test::test_a_finder_that_comes_first
    tests.harness.subject.test_under_test::test_an_installed_copy_where_the_tree_has_none
20 (what does not reach the worker, and what it should not pay for)
    here.test_workers::test_a_worker_has_the_environment_of_its_parent_and_the_seed_that_it_was_told
    here.test_workers::test_a_kpi_does_not_pay_for_the_set_up_of_another
    here.test_workers::test_workers_start_from_any_folder_of_a_project
    tests.harness.measure.test_launch::test_a_worker_that_does_not_have_the_seed_it_was_told_refuses
    tests.test_house::test_a_folder_called_harness_does_not_come_in_the_place_of_ours
21 (many small steps)
    here.test_small_steps::test_no_step_is_a_regression_against_the_commit_before_it
    here.test_small_steps::test_the_sum_of_the_steps_is_a_regression_against_the_release
renamed or removed
    here.test_nothing_compared::test_a_faster_neighbour_does_not_make_up_for_a_benchmark_that_has_gone
    tests.harness.gating.test_gate_command::test_a_kpi_that_is_gone_is_removed_and_not_passed_over
    tests.harness.gating.test_pytest_mode::test_a_renamed_test_is_named_as_gone_and_its_new_name_measures_both_sides
one sample
    here.test_samples::test_one_sample_is_no_verdict_however_far_it_lies
    tests.harness.judge.test_sequence::test_too_few_pairs_are_inconclusive
unequal numbers
    here.test_samples::test_sixty_against_fifty_seven_values_of_one_distribution_are_no_change
    tests.harness.judge.test_independent::test_unequal_numbers_of_processes_are_no_obstacle
zero time
    here.test_clocks::test_a_value_without_any_time_voids_its_pair
    tests.harness.judge.test_independent::test_zero_time_is_inconclusive
two modes
    here.test_samples::test_processes_of_two_modes_are_never_accused
    tests.harness.judge.test_interference::test_two_modes_are_seen
two gates at once
    here.test_interruption::test_two_gates_at_once_do_not_measure_each_other
    tests.harness.record.test_lock::test_a_killed_holder_leaves_no_lock
orphans
    here.test_interruption::test_no_worker_outlives_a_gate_that_is_ended
    tests.harness.measure.test_launch::test_a_parent_that_is_killed_takes_its_worker_along
    tests.harness.measure.test_launch::test_a_daemon_of_a_probe_ends_with_its_worker_and_is_said
"""
