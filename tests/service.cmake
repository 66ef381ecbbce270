# The service: modules by themselves, then heddled with a scripted solver (fake_world), end to end over its sockets.
heddle_test(bus LINK heddle_bus)
heddle_test(message LINK heddle_bus -Wl,--wrap=array)
heddle_test(queue LINK heddle_daemon -Wl,--wrap=array)
heddle_test(store LINK heddle_daemon)
heddle_test(world LINK heddle_daemon)
heddle_test(config LINK heddle_daemon)
target_compile_definitions(config_test PRIVATE HEDDLE_CONFIG_FILE="${CMAKE_SOURCE_DIR}/configs/heddled.conf")

add_executable(fake_world fake_world.c ${CMAKE_SOURCE_DIR}/service/cli/worker.c)
target_link_libraries(fake_world PRIVATE heddle_bus heddle_wire heddle_mpi)

# Debian's python3-zmq and python3-msgpack are of the system's own interpreter.
find_program(HEDDLE_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
function(heddle_service_test name)
  cmake_parse_arguments(A "" "TIMEOUT" "LABELS" ${ARGN})
  if(NOT A_LABELS)
    set(A_LABELS quick)
  endif()
  add_test(NAME service_${name} COMMAND ${HEDDLE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/service_test.py ${name})
  set_tests_properties(service_${name} PROPERTIES TIMEOUT ${A_TIMEOUT} LABELS "${A_LABELS}" SKIP_RETURN_CODE 77
                       ENVIRONMENT "HEDDLE_BIN=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
endfunction()

foreach(name basic refusals idempotency watching cancelling limits poison large kill_world kill_daemon mpi bombs garbage
        slow_readers second_daemon stop_and_go ten_lines)
  heddle_service_test(${name} TIMEOUT 90)
endforeach()
if(TARGET heddle)
  heddle_service_test(cli TIMEOUT 120)
  heddle_service_test(real_rank TIMEOUT 600)
  heddle_service_test(real_daemon TIMEOUT 600)
  foreach(name long_kill_world long_kill_daemon long_real_rank long_real_daemon)
    heddle_service_test(${name} TIMEOUT 1800 LABELS soak)
  endforeach()
endif()
