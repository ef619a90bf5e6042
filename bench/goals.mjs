// What the gateway is meant to reach, and what this run says of it.

/** @returns rows of goal, must, aim and now; `now` is absent where this run did not measure it. */
export function goalRows(results) {
  const json = finder(results.json?.rows);
  const streams = finder(results.streams?.rows);
  const one = '250 B, 1 connection';
  const many = json('250 B', 'gateway');
  const alone = json(one, 'gateway');
  const logged = json('250 B', 'gateway:logged');
  const tail = (contender) => results.tails?.find((each) => each.contender === contender);
  const { cold, first } = results;
  const two = (on, of = 'gateway') =>
    results.workers?.find(
      ({ scenario, contender, workers }) => scenario === on && contender === of && workers === 2,
    );
  const against = (scenario, contender, other) =>
    quotient(json(scenario, contender)?.cpu, json(scenario, other)?.cpu);
  return [
    row('250 B, 64 connections: CPU', 'bare', [2, 1.6], many?.cpu_x_bare),
    row('250 B, JSON lines on stderr: CPU', 'bare', [2.2, 1.8], logged?.cpu_x_bare),
    row(
      '250 B, JSON lines on stderr: p99',
      'p50',
      [2.8, 2.2],
      quotient(tail('gateway:logged')?.p99, tail('gateway:logged')?.p50),
    ),
    row('250 B, one connection: CPU', 'bare', [1.9, 1.5], alone?.cpu_x_bare),
    row('250 B, one connection: p50', 'bare', [1.5, 1.3], alone?.p50_x_bare),
    row('8 KB, large policy: CPU', 'bare', [2.8, 2.2], json('8 KB', 'gateway:large')?.cpu_x_bare),
    row('360 KB, large policy: CPU', 'bare', [2.6, 2.2], json('360 KB', 'gateway:large')?.cpu_x_bare),
    row(
      '100 streams: CPU per event',
      'bare',
      [1.15, 1.05],
      streams('100 streams, 10 ms', 'gateway')?.cpu_x_bare,
    ),
    row(
      '1,000 streams: CPU per event',
      'bare',
      [1.3, 1.15],
      streams('1,000 streams, 50 ms', 'gateway')?.cpu_x_bare,
    ),
    row('first request after the start', 'ms over the tenth', [15, 5], first?.gateway?.start.overMs),
    row('first of 60 KB', 'ms over the tenth', [15, 5], first?.gateway?.large.overMs),
    row('first after a reload', 'ms over the tenth', [15, 5], first?.gateway?.reload.overMs),
    row(
      'cold start to the first 200',
      'bare',
      [1.35, 1.2],
      quotient(cold?.gateway?.coldMs, cold?.bare?.coldMs),
    ),
    row(
      'ledger, 64 connections: CPU',
      'without',
      [1.06, 1.03],
      against('250 B', 'gateway', 'gateway:no-ledger'),
    ),
    row('ledger, one connection: CPU', 'without', [1.06, 1.03], against(one, 'gateway', 'gateway:no-ledger')),
    row(
      'ledger, limits and metrics: CPU',
      'none of them',
      [1.25, 1.15],
      against('250 B', 'gateway:everything', 'gateway:no-ledger'),
    ),
    row('ledger, 1,500 requests a second: p99', 'without', [1.1, 1], results.lines?.ledgerP99),
    row('1 MB of random base64: CPU', 'words', [10, 4], results.lines?.randomOfWords),
    row('start with 10,000 keys and models: CPU', 'one of each', [3, 2], results.lines?.manyOfEmpty),
    ...(results.mask?.requests ?? [{ name: '300 values' }]).map(({ name, base, masked }) =>
      row(`request masked, ${name}: CPU`, 'redacted', [1.1, 1.05], quotient(masked, base)),
    ),
    ...(results.mask?.streams ?? [{ name: 'with values' }]).flatMap(({ name, cpu, first }) => [
      row(
        `stream masked, ${name}: CPU per event`,
        'none masked',
        [1.15, 1.1],
        quotient(cpu?.masked, cpu?.base),
      ),
      row(`stream masked, ${name}: first byte`, 'ms over none', [0.2, 0.1], less(first?.masked, first?.base)),
    ]),
    ...(results.mask?.held ?? [{ name: 'chat' }]).map(({ name, bytes, placeholder }) =>
      row(`stream masked, ${name}: text held back`, 'a placeholder', [1], quotient(bytes, placeholder)),
    ),
    row(
      'stream translated, masked, with a rule on answers: CPU per event',
      'relayed',
      [4, 2.5],
      quotient(results.stages?.all, results.stages?.relayed),
    ),
    row('tracing: CPU', 'without', [2, 1.5], against('250 B', 'gateway:tracing', 'gateway')),
    row('250 B, 64 connections: p99', 'p50', [2.5, 2], quotient(tail('gateway')?.p99, tail('gateway')?.p50)),
    row(
      'memory after the load',
      'MB over bare',
      [70, 40],
      less(results.json?.memory.gateway, results.json?.memory.bare),
    ),
    row('serve without a configuration, idle, all processes', 'MB', [110, 90], results.memory?.idleMb),
    row(
      'garbage of a request of 250 B',
      'bare',
      [2.5, 2],
      quotient(results.garbage?.gateway?.kbPerRequest, results.garbage?.bare?.kbPerRequest),
    ),
    row('1,500 open streams, each', 'KB', [70, 50], results.memory?.gateway?.perStreamKb),
    row('two workers on one core: CPU', 'one', [1.1, 1.03], two('one core')?.cpu_x_one),
    row(
      "two workers on two cores: what they bring of two bare proxies'",
      'theirs ÷ ours',
      [1.05, 1],
      quotient(two('two cores', 'bare')?.rate_x_one, two('two cores')?.rate_x_one),
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
