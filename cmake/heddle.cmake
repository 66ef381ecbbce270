# heddle_library(NAME SOURCES ... LINK ...): a static library of the project.
function(heddle_library name)
  cmake_parse_arguments(A "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${A_SOURCES})
  target_link_libraries(${name} PUBLIC ${A_LINK})
endfunction()

# heddle_test(NAME LINK ... [LABELS ...] [TIMEOUT s] [ARGS ...]): tests/<NAME>_test.c as one program under CTest.
# Exit status 77 means skipped; the program prints why.
function(heddle_test name)
  cmake_parse_arguments(A "" "TIMEOUT" "LINK;LABELS;ARGS" ${ARGN})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 60)
  endif()
  if(NOT A_LABELS)
    set(A_LABELS quick)
  endif()
  add_executable(${name}_test ${name}_test.c)
  target_link_libraries(${name}_test PRIVATE ${A_LINK} cmocka m)
  add_test(NAME ${name} COMMAND ${name}_test ${A_ARGS})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${A_TIMEOUT} LABELS "${A_LABELS}" SKIP_RETURN_CODE 77
                       ENVIRONMENT "HEDDLE_SHARED=${CMAKE_SOURCE_DIR}/../shared;HEDDLE_BIN=${CMAKE_BINARY_DIR}")
endfunction()
