//! The cases, by what they are about. Each is a function on a [`crate::Harness`], and stands in the list below.

/// Calls a generic case for the types that every operation is tried on.
macro_rules! for_every_type {
    ($case:ident, $harness:expr) => {{
        $case::<i32>($harness)?;
        $case::<i64>($harness)?;
        $case::<f32>($harness)?;
        $case::<f64>($harness)?;
        $case::<bool>($harness)?;
        $case::<(i32, (f64, bool))>($harness)
    }};
}

pub mod accuracy;
pub mod casts;
pub mod composed;
pub mod comprehensions;
pub mod control;
pub mod elements;
pub mod expansions;
pub mod failures;
pub mod filters;
pub mod folds;
pub mod indexing;
pub mod inner_arrays;
pub mod irregular;
pub mod kernels;
pub mod loops;
pub mod methods;
pub mod orders;
pub mod permutes;
pub mod products;
pub mod programs;
pub mod ragged;
pub mod reductions;
pub mod results;
pub mod runs;
pub mod scalars;
pub mod scans;
pub mod segments;
pub mod shapes;
pub mod small_loops;
pub mod small_types;
pub mod sorting;
pub mod stencils;
pub mod together;
pub mod views;
pub mod whole;

/// Calls a macro with the list of all cases, by module: `callback! { module { case case } module { case } }`.
#[macro_export]
macro_rules! for_each_case {
    ($callback:ident) => {
        $callback! {
            elements {
                every_type_is_copied
                maps_of_every_type
                used_arrays
                units
                generated_in_every_rank
                extents_from_scalar_arguments
                zips_of_two
                zips_of_three_and_four
                zips_of_up_to_nine
                indices_and_parts
                made_of_numbers
                random_numbers
                pairs
                tuples_of_eight
                options
                nested_tuples
                arrays_of_truth_values
                scalar_arguments_of_every_type
                shapes_inside_functions
                a_long_chain_of_maps
                values_beyond_32_bits_from_indices
                values_beyond_32_bits_from_memory
                an_argument_as_the_result
            }
            composed {
                structs_are_reduced_and_ordered
                structs_are_combined_and_kept
                generic_structs
                enums
                arrays_of_fixed_length
                an_index_beyond_a_fixed_length
                complex_numbers
                results
                tuples_of_twelve
            }
            together {
                consumers_of_an_expansion
                expansions_of_expansions
                consumers_of_an_array
                arrays_of_one_shape
                arrays_of_one_size
                arrays_that_are_written_and_heard
                stencils_that_are_written_and_heard
            }
            expansions {
                in_order
                gathered
                gathered_by_every_division
                reduced_per_source
                as_many_of_each
                numbers_of_sources
                wrong_sizes
            }
            comprehensions {
                qualifiers
                in_step
                reductions
                reductions_of_each
                sparse_matrices
                rows_of_matrices
                orders
                groups
                groups_by_number
                joins
                joins_of_uneven_keys
                pythagorean_triples
                drawings
                rows_of_different_lengths
                mistakes
            }
            inner_arrays {
                taken
                rows
                groups
                loops
                loops_of_rows
                reductions_of_reductions
                chunks
                parts
            }
            irregular {
                primes
                primes_in_segments
                breadth_first_search
                connected_components
                triangles_of_graphs
                rendered_meshes
                pythagorean_triples
                drawn_shapes
                pricing_summaries
                shipping_priorities
                sparse_times_dense
                sparse_times_sparse
                pairs_within_a_radius
                counted_words
            }
            results {
                of_different_shapes
                the_same_array_twice
                arguments_as_they_are
                one_that_fails
                nested_tuples
                beside_loops
                called_inside_others
                called_with_loops_and_rows
                saved_and_loaded
                run_asynchronously
                streams_of_chunks
            }
            whole {
                clusters_of_points
                bodies_that_attract_each_other
                ranks_of_pages
                a_radix_sort_by_hand
                a_quicksort_of_segments
                edges_of_a_picture
                generations_of_life
                heat_of_a_plate
                fourier_transforms
                equalised_pictures
                julia_sets
                traced_rays
                developed_photographs
                burning_particles
                sparse_matrix_times_vector
                estimates_of_pi
                prices_of_options
                shortest_ways
                conjugate_gradients
                decomposed_matrices
                queens_on_boards
            }
            ragged {
                maps_zips_and_filters
                folds
                scans
                sorts
                single_rows
                of_comprehensions
                mistakes
            }
            shapes {
                reshapes
                reshapes_of_computed_arrays
                flattened
                ranks_three_and_four
                reversed_and_strided
                gathered_by_values_of_the_index
                rows_columns_and_diagonals
                backpermutes_that_need_no_check
                transposes
                transposes_of_tuples_and_twice
                replicated_rows_and_columns
                replicated_values
                permutations_of_three_and_four_dimensions
                chains_of_index_changes
            }
            views {
                parts_of_rows_of_every_type
                parts_of_vectors
                windows
                slices_and_replications
                dimensions_in_another_order
            }
            indexing {
                elements_of_every_type
                tables_that_are_computed
                tables_that_nobody_keeps
                loops_over_rows_of_different_lengths
                elements_in_other_functions
                indices_that_operators_and_sizes_do_not_find
                indices_that_are_not_there
                operations_inside_functions
                arrays_one_after_the_other
                many_parts
            }
            segments {
                folds_of_segments
                scans_of_what_stands_before
                repeated_elements
                extents_from_elements
                scans_of_segments
                runs_of_equal_elements
                searches
            }
            sorting {
                sorts_of_every_type
                floats_and_options_in_order
                sorts_are_stable
                sorts_by_keys_of_any_range
                sorts_by_any_order
                rows_are_sorted
                rows_of_rank_three
                orders_of_indices
                sorted_and_scattered
                the_largest
                sorts_among_others
            }
            stencils {
                boundaries_of_matrices
                one_and_three_dimensions
                two_arrays
                arrays_that_are_kept
            }
            reductions {
                extrema_and_where_they_are
                extrema_of_floats
                conditions_of_rows
                means_and_variances
                folds_from_nothing
            }
            folds {
                sums_of_every_type
                sums_of_every_shape
                long_rows
                smallest_and_largest
                logical_operators
                products_that_wrap
                several_results_at_once
                empty_rows_give_the_neutral_element
                initial_values_count_once
                close_sums_of_floats
                folds_of_folds
                folds_in_ranks_three_and_four
                functions_after_folds
                reshapes_after_folds
                arrays_beside_folds
                folds_of_transposes
                folds_of_generated_arrays
                folds_of_replications
                folds_of_backpermutes
                scalar_arguments_in_folds
                operators_with_loops
                elements_with_loops
            }
            permutes {
                histograms
                sums_and_extrema_by_key
                elements_of_several_columns
                permutations_by_index
                scattered
                combined_from_folds
                scalar_arguments_in_operators
                into_computed_defaults
                indices_that_are_no_targets
            }
            kernels {
                kernels_of_every_type
                maps_and_folds_of_kernels
                what_listens_to_kernels
                elements_that_a_kernel_leaves_out_are_zero
                kernels_that_fail_inside_programs
            }
            products {
                every_shape
                numbers_of_other_types
                pairs_of_matrices
                shortest_ways_and_reachable_places
                in_order
                functions_around_products
                matrices_and_vectors
                products_written_as_folds
                functions_that_fail
                shapes_that_do_not_fit
                wide_elements_with_long_inner_extents
                as_patterns
                patterns_with_functions_around_them
                patterns_that_can_fail
            }
            orders {
                affine_maps_of_64_bits
                affine_maps_of_32_bits
                affine_maps_in_long_rows
                affine_maps_from_an_initial_value
                products_of_matrices
                the_first_and_the_last
                polynomial_hashes
                affine_maps_of_computed_elements
                columns_in_order
            }
            scans {
                running_sums_of_every_type
                scans_of_every_shape
                scans_from_initial_values
                scans_with_totals
                affine_maps
                segmented_sums
                functions_around_scans
                operators_without_a_neutral_element
            }
            filters {
                kept_in_order
                all_or_nothing_is_kept
                filters_of_matrices
                filters_after_filters
                folds_of_filters
                scans_of_filters
                filters_of_scans
                partitions_and_flags
                counts_inside_functions
            }
            scalars {
                arithmetic_of_i32
                arithmetic_of_i64
                arithmetic_of_u32
                arithmetic_of_u64
                division_of_i32
                division_of_i64
                division_of_u32
                division_of_u64
                bits_of_i32
                bits_of_i64
                bits_of_u32
                bits_of_u64
                comparisons_of_integers
                operations_with_constants
                arithmetic_of_f32
                arithmetic_of_f64
                comparisons_of_floats
                rounding_of_f32
                rounding_of_f64
                bit_patterns_of_floats
                truth_values
            }
            methods {
                overflow_of_i32
                overflow_of_i64
                overflow_of_u32
                overflow_of_u64
                bits_and_roots_of_i32
                bits_and_roots_of_i64
                bits_and_roots_of_u32
                bits_and_roots_of_u64
                euclid_of_i32
                euclid_of_i64
                euclid_of_u32
                euclid_of_u64
                multiples_of_unsigned_numbers
                parts_of_f32
                parts_of_f64
                powers_and_loops
            }
            accuracy {
                functions_of_f32
                functions_of_f64
                powers_and_angles_of_f32
                powers_and_angles_of_f64
                functions_of_constants
            }
            casts {
                from_bool
                from_i32
                from_i64
                from_u32
                from_u64
                from_f32
                from_f64
            }
            control {
                selected_values
                conditional_values
                conditions_inside_conditions
                values_shared_between_branches
                the_other_branch_is_not_evaluated
                loops_of_different_lengths
                loops_inside_loops
                loops_inside_branches
                branches_inside_loops
                loops_of_several_values
                a_loop_that_is_never_entered
                values_that_do_not_change_in_a_loop
            }
            loops {
                rounds_as_long_as_a_condition_holds
                so_many_rounds
                states_of_several_arrays
                lengths_that_only_the_device_knows
                loops_inside_loops_and_branches
                only_one_side_is_run
                arrays_from_outside
                what_no_round_changes
                failures_inside_loops
                branches_on_what_loops_give
                many_rounds
                states_that_alternate
                states_that_are_written_over
                functions_of_the_host
                functions_on_a_device
                traced_arrays
            }
            small_loops {
                maps_and_a_counter
                neighbours_of_elements
                arrays_that_change_places
                folds_in_order
                rows_that_are_folded
                scans_in_rounds
                loops_in_loops
                filters_that_are_folded
                failures_that_would_never_end
            }
            small_types {
                operations_on_integers
                operations_on_halves
                functions_of_halves
                conversions_between_all_types
                copied_and_mapped
                sums_that_wrap_and_that_do_not
                extrema_of_halves
                running_sums
                sorts
                combined_at_an_index
                filters
                matrices
                characters
            }
            failures {
                shapes_that_differ
                reshapes_of_another_size
                impossible_extents
                an_index_too_large
                an_index_too_small
                an_index_out_of_one_of_two_dimensions
                one_bad_index_among_many
                bad_indices_inside_a_fold
                a_bad_index_behind_a_bad_index
                nothing_fails_where_nothing_is_computed
                divisions_by_zero
                divisions_by_zero_in_loops_and_folds
                divisions_by_a_constant_zero
                divisions_by_zero_in_shapes
                a_failure_reaches_what_depends_on_it
                the_next_run_works
                expressions_outside_their_function
                expressions_of_another_function
            }
            runs {
                an_array_used_twice_and_cheap
                an_array_used_twice_and_expensive
                an_array_used_at_two_indices
                many_uses_of_many_arrays
                results_as_arguments
                one_array_as_two_arguments
                results_on_another_device
                other_sizes_in_turn
                scalars_in_turn
                inputs_that_come_and_go
                the_same_bits_every_time
                several_threads
            }
            programs {
                dot_product
                saxpy
                sums_of_rows_and_columns
                matrix_times_vector
                black_scholes
                mandelbrot
            }
        }
    };
}
