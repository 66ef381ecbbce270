# One conformance list: alone, on ranks as threads (sim.h), and over MPI with the real size of a piece and with 5 bytes per
# call, so that every loop is walked.
heddle_test(comm LINK heddle_mpi heddle_sim -Wl,--wrap=array)
heddle_library(heddle_mpi_pieces SOURCES ${CMAKE_SOURCE_DIR}/solver/comm/comm_mpi.c LINK heddle_solver MPI::MPI_C)
target_compile_definitions(heddle_mpi_pieces PRIVATE HEDDLE_MPI_PIECE=5)
add_executable(comm_pieces_test comm_test.c)
target_link_libraries(comm_pieces_test PRIVATE heddle_mpi_pieces heddle_sim -Wl,--wrap=array cmocka m)
set(heddle_mpiexec ${MPIEXEC_EXECUTABLE} --oversubscribe --mca mpi_yield_when_idle 1 --mca pml ob1 --mca btl self,vader)
set(heddle_mpi_environment "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;ASAN_OPTIONS=detect_leaks=0")
foreach(kind comm comm_pieces)
  foreach(n 1 3)
    add_test(NAME ${kind}_mpi_${n} COMMAND ${heddle_mpiexec} -n ${n} $<TARGET_FILE:${kind}_test> mpi)
    set_tests_properties(${kind}_mpi_${n} PROPERTIES TIMEOUT 60 LABELS quick ENVIRONMENT "${heddle_mpi_environment}")
  endforeach()
endforeach()
# A world of one rank where the launcher announced four is refused, never solved four times over.
add_test(NAME comm_mpi_singleton COMMAND comm_test mpi)
set_tests_properties(comm_mpi_singleton PROPERTIES TIMEOUT 60 LABELS quick
                     ENVIRONMENT "${heddle_mpi_environment};SLURM_NTASKS=4"
                     PASS_REGULAR_EXPRESSION "SLURM_NTASKS=4, but this process is alone in its MPI world")
