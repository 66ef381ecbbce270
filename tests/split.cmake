# Fractional routes. Their referee is Clp, in tests only.
heddle_test(prices LINK heddle_solver)
find_library(heddle_clp_solver ClpSolver)
find_library(heddle_clp Clp)
find_library(heddle_coin_utils CoinUtils)
heddle_library(heddle_lp SOURCES lp.c LINK heddle_referee ${heddle_clp_solver} ${heddle_clp} ${heddle_coin_utils} cmocka)
heddle_test(split LINK heddle_lp heddle_sim -Wl,--wrap=array TIMEOUT 180)
heddle_test(split_public LINK heddle_lp TIMEOUT 180)
