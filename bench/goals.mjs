// What the gateway is meant to reach, and what this run says of it.

/** @returns rows of goal, must, aim and now; `now` is absent where this run did not measure it. */
export function goalRows(results) {
  const json = finder(results.json?.rows);
  const streams = finder(results.streams?.rows);
  const oneConnection = '250 B, 1 connection';
  const own = json(oneConnection, 'gateway');
  const nginx = json(oneConnection, 'nginx');
  const direct = json(oneConnection, 'direct');
  const stream = streams('100 streams, 10 ms', 'gateway');
  const cold = results.cold;
  const two = (on) => results.workers?.find(({ scenario, workers }) => scenario === on && workers === 2);
  return [
    row('250 B, small policy, records: CPU', 'nginx', [5, 3.3], json('250 B', 'gateway')?.cpu_x_nginx),
    row(
      '250 B, small policy, records: requests/s',
      'portkey',
      [25, 50],
      json('250 B', 'gateway')?.rate_x_portkey,
      'least',
    ),
    row('8 KB, large policy: CPU', 'nginx', [6, 4], json('8 KB', 'gateway:large')?.cpu_x_nginx),
    row('360 KB, large policy: CPU', 'nginx', [15, 10], json('360 KB', 'gateway:large')?.cpu_x_nginx),
    row(
      '360 KB, large policy: requests/s',
      'portkey',
      [5, 9],
      json('360 KB', 'gateway:large')?.rate_x_portkey,
      'least',
    ),
    row(
      '360 KB, large policy, a turn more: CPU',
      'nginx',
      [8, 5],
      json('360 KB, a turn more', 'gateway:large')?.cpu_x_nginx,
    ),
    row('p50, one connection', 'nginx', [1.5, 1.25], quotient(own?.p50, nginx?.p50)),
    row(
      'p50 added to direct, one connection',
      'nginx',
      [1.5, 1.25],
      quotient(less(own?.p50, direct?.p50), less(nginx?.p50, direct?.p50)),
    ),
    row('100 streams: CPU per event', 'nginx', [3.2, 2.2], stream?.cpu_x_nginx),
    row('100 streams: CPU per event', 'portkey', [0.33, undefined], stream?.cpu_x_portkey),
    row(
      '100 streams: first byte over direct',
      'ms',
      [1, 0.35],
      quotient(less(stream?.first50, streams('100 streams, 10 ms', 'direct')?.first50), 1_000),
    ),
    row('1,500 open streams, each', 'KB', [70, 50], results.memory?.gateway?.perStreamKb),
    row('two workers on two cores: requests/s', 'one', [1.5, 1.8], two('two cores')?.rate_x_one, 'least'),
    row('two workers on one core: CPU', 'one', [1.1, 1.03], two('one core')?.cpu_x_one),
    row(
      'cold start to the first 200',
      'portkey',
      [0.6, 0.25],
      quotient(cold?.gateway?.coldMs, cold?.portkey?.coldMs),
    ),
    row('gateway --version: CPU', 'node -e 0', [1.3, 1.1], startup(results, 'gateway --version')),
    row('gateway send: CPU', 'node -e 0', [2.2, 1.6], startup(results, 'gateway send hello')),
  ];
}

function row(goal, unit, [must, aim], now, bound = 'most') {
  const isReached = (limit) => (bound === 'most' ? now <= limit : now >= limit);
  const verdict = now === undefined || Number.isNaN(now) ? 'not measured' : verdictOf(isReached, must, aim);
  return { goal, unit, bound, must, aim, now, verdict };
}

function verdictOf(isReached, must, aim) {
  if (!isReached(must)) return 'missed';
  return aim === undefined || isReached(aim) ? 'aim' : 'must';
}

function finder(rows) {
  return (scenario, contender) =>
    rows?.find((each) => each.scenario === scenario && each.contender === contender);
}

function startup({ startup: rows }, name) {
  return rows?.find((each) => each.name === name)?.ratio;
}

function quotient(one, other) {
  return one === undefined || other === undefined ? undefined : one / other;
}

function less(one, other) {
  return one === undefined || other === undefined ? undefined : one - other;
}
