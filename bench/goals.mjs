// What the gateway is meant to reach, and what this run says of it.

/** @returns rows of goal, must, aim and now; `now` is absent where this run did not measure it. */
export function goalRows(results) {
  const json = finder(results.json?.rows);
  const streams = finder(results.streams?.rows);
  const oneConnection = '250 B, 1 connection';
  const own = json(oneConnection, 'gateway');
  const stream = streams('100 streams, 10 ms', 'gateway');
  const cold = results.cold;
  const two = (on) => results.workers?.find(({ scenario, workers }) => scenario === on && workers === 2);
  const proxy = json(oneConnection, 'http-proxy');
  const many = json('250 B', 'gateway');
  return [
    row('250 B, small policy, records: CPU', 'nginx', [3.8, 3.3], many?.cpu_x_nginx),
    row(
      '250 B, small policy, records: CPU',
      'http-proxy',
      [1, 0.75],
      quotient(many?.cpu, json('250 B', 'http-proxy')?.cpu),
    ),
    row('250 B, one connection: CPU', 'http-proxy', [1, 0.85], quotient(own?.cpu, proxy?.cpu)),
    row(
      '250 B, with the ledger: CPU',
      'without',
      [1.15, undefined],
      quotient(json('250 B', 'gateway:ledger')?.cpu, many?.cpu),
    ),
    row(
      '250 B, with ledger, limits and metrics: CPU',
      'without',
      [1.15, undefined],
      quotient(json('250 B', 'gateway:everything')?.cpu, many?.cpu),
    ),
    row(
      '250 B, with ledger, limits and metrics: p99',
      'without',
      [1.15, undefined],
      quotient(json('250 B', 'gateway:everything')?.p99, many?.p99),
    ),
    row(
      '250 B, with tracing: CPU',
      'without',
      [2, 1.5],
      quotient(json('250 B', 'gateway:tracing')?.cpu, many?.cpu),
    ),
    row('250 B, 64 connections: p99', 'p50', [3, 2], quotient(many?.p99, many?.p50)),
    row(
      '100 streams: first byte over direct',
      'ms',
      [1, 0.35],
      quotient(less(stream?.first50, streams('100 streams, 10 ms', 'direct')?.first50), 1_000),
    ),
    row('8 KB, large policy: CPU', 'nginx', [5, 4], json('8 KB', 'gateway:large')?.cpu_x_nginx),
    row('360 KB, large policy: CPU', 'nginx', [11, 8], json('360 KB', 'gateway:large')?.cpu_x_nginx),
    row(
      '360 KB, large policy, a turn more: CPU',
      'nginx',
      [5, 4],
      json('360 KB, a turn more', 'gateway:large')?.cpu_x_nginx,
    ),
    row('100 streams: CPU per event', 'nginx', [2.2, 1.8], stream?.cpu_x_nginx),
    row('1,500 open streams, each', 'KB', [70, 50], results.memory?.gateway?.perStreamKb),
    row('two workers on one core: CPU', 'one', [1.1, 1.03], two('one core')?.cpu_x_one),
    row(
      'cold start to the first 200',
      'portkey',
      [0.55, 0.4],
      quotient(cold?.gateway?.coldMs, cold?.portkey?.coldMs),
    ),
    row('gateway --version: CPU', 'node -e 0', [1.2, 1.1], startup(results, 'gateway --version')),
    row('gateway send: CPU', 'node -e 0', [2.2, 1.9], startup(results, 'gateway send hello')),
  ];
}

function row(goal, unit, [must, aim], now) {
  const verdict = now === undefined || Number.isNaN(now) ? 'not measured' : verdictOf(now, must, aim);
  return { goal, unit, must, aim, now, verdict };
}

function verdictOf(now, must, aim) {
  if (now > must) return 'missed';
  return aim === undefined || now <= aim ? 'aim' : 'must';
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
