/** Says what `gateway run` allows the requests of one run, such as `usd=5;requests=200`; x-gateway-run names the run. */
export const runLimitsHeader = 'x-gateway-run-limits';
