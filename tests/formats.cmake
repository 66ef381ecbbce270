# Other tools' files as fabrics.
heddle_test(formats LINK heddle_formats)
heddle_test(formats_real LINK heddle_formats)
heddle_test(formats_hostile LINK heddle_formats -Wl,--wrap=array)
heddle_test(cabling LINK heddle_formats -Wl,--wrap=array)
if(HEDDLE_SANITIZE) # 100,000 damaged files per sample
  foreach(format ibnetdiscover ibnetdiscover-p opensm-subnet ns3 slurm slurm-yaml topograph node-link repetita graphml
          sndlib sndlib-json commalab dimacs htsim clab batfish lldp sonic minigraph netq ufm-ndt lingjun)
    add_test(NAME formats_long_${format} COMMAND formats_hostile_test 100000 ${format})
    set_tests_properties(formats_long_${format} PROPERTIES TIMEOUT 900 LABELS soak)
  endforeach()
endif()
add_test(NAME import COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/import_test.sh $<TARGET_FILE:heddle>)
set_tests_properties(import PROPERTIES TIMEOUT 60 LABELS quick)
