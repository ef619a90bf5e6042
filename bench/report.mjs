// The figures as tables for a person.
import { goalRows } from './goals.mjs';

const ratios = [
  ['CPU × bare', 'cpu_x_bare'],
  ['CPU × nginx', 'cpu_x_nginx'],
  ['CPU × before', 'cpu_x_before'],
  ['p50 × bare', 'p50_x_bare'],
];

export function report(results) {
  const lines = [];
  const { machine, gateway } = results;
  lines.push(
    `gateway ${gateway.version} (${gateway.commit}), Node ${machine.node}, ${machine.cpu}, ${results.date}`,
  );
  for (const scenario of scenarioNames(results.json)) {
    lines.push('', `## ${scenario} (µs; + is over direct)`, jsonTable(results.json.rows, scenario));
  }
  if (results.tails) lines.push('', '## 250 B on 64 open connections (ms)', tailsTable(results.tails));
  for (const scenario of scenarioNames(results.streams)) {
    lines.push('', `## ${scenario} (µs)`, streamTable(results.streams.rows, scenario));
  }
  if (results.json)
    lines.push(
      '',
      '## Memory after the load',
      table(['contender', 'MB'], Object.entries(results.json.memory)),
    );
  if (results.first) lines.push('', '## The first of its kind (ms)', firstTable(results.first));
  if (results.garbage)
    lines.push(
      '',
      '## Garbage of a request of 250 B',
      table(
        ['contender', 'KB', 'collections a second'],
        Object.entries(results.garbage).map(([name, each]) => [
          name,
          each.kbPerRequest,
          each.collectionsPerSecond,
        ]),
      ),
    );
  if (results.stages)
    lines.push(
      '',
      '## A stream with everything (CPU µs per event)',
      table(['relayed', 'translated, masked, with a rule'], [[results.stages.relayed, results.stages.all]]),
    );
  if (results.memory) lines.push('', '## 1,500 open streams', memoryTable(results.memory));
  if (results.cold) lines.push('', '## Cold start to the first 200', coldTable(results.cold));
  if (results.mask) lines.push('', '## Masking (requests ms, events µs)', maskTable(results.mask));
  if (results.workers) lines.push('', '## Workers, 250 B (µs)', workersTable(results.workers));
  if (results.startup) {
    const rows = results.startup.map(({ name, cpuMs, ratio }) => [name, cpuMs, ratio]);
    lines.push('', '## Commands', table(['command', 'CPU ms', '× node -e 0'], rows));
  }
  lines.push('', '## Goals', goalTable(results));
  return lines.join('\n');
}

function scenarioNames(section) {
  return [...new Set(section?.rows.map(({ scenario }) => scenario))];
}

function jsonTable(rows, scenario) {
  const of = rows.filter((row) => row.scenario === scenario);
  const direct = of.find(({ contender }) => contender === 'direct');
  return table(
    ['contender', 'CPU', 'requests/s', 'p50', '+p50', ...ratios.map(([title]) => title), 'foreign', 'failed'],
    of.map((row) => [
      row.contender,
      row.cpu,
      row.rate,
      row.p50,
      row.p50 - direct?.p50,
      ...ratios.map(([, field]) => row[field]),
      row.foreign,
      row.failed,
    ]),
  );
}

function tailsTable(tails) {
  return table(
    ['contender', 'p50', 'p90', 'p99', 'p99.9', 'p99 ÷ p50', 'foreign', 'failed'],
    tails.map(({ contender, p50, p90, p99, p999, foreign, failed }) => [
      contender,
      p50,
      p90,
      p99,
      p999,
      p99 / p50,
      foreign,
      failed,
    ]),
  );
}

function streamTable(rows, scenario) {
  const of = rows.filter((row) => row.scenario === scenario);
  const direct = of.find(({ contender }) => contender === 'direct');
  return table(
    [
      'contender',
      'CPU/event',
      'events/s',
      'first p50',
      '+first',
      'first p99',
      'delay p50',
      'delay p99',
      ...ratios.slice(0, 3).map(([title]) => title),
      'foreign',
      'failed',
    ],
    of.map((row) => [
      row.contender,
      row.cpu,
      row.rate,
      row.first50,
      row.first50 - direct?.first50,
      row.first99,
      row.delay50,
      row.delay99,
      ...ratios.slice(0, 3).map(([, field]) => row[field]),
      row.foreign,
      row.failed,
    ]),
  );
}

function maskTable({ requests, events, held, streams }) {
  const cpu = streams.map((each) => ({ name: `whole gateway, ${each.name}`, ...each.cpu }));
  const first = streams.map((each) => ({ name: `first byte (ms), ${each.name}`, ...each.first }));
  const rows = [
    ...requests.map((each) => ({ ...each, name: `request, ${each.name}` })),
    ...events.map((each) => ({ ...each, name: `event, ${each.name}` })),
    ...cpu,
    ...first,
    ...held.map(({ name, bytes, placeholder }) => ({
      name: `bytes held back, of a placeholder, ${name}`,
      base: placeholder,
      masked: bytes,
    })),
  ];
  return table(
    ['', 'without', 'masked', 'ratio'],
    rows.map(({ name, base, masked }) => [name, base, masked, masked / base]),
  );
}

const firsts = {
  start: 'request after the start',
  large: 'of 60 KB',
  reload: 'after a reload',
};

function firstTable(first) {
  const rows = Object.entries(firsts).flatMap(([kind, title]) =>
    Object.entries(first).map(([name, { [kind]: each }]) => [
      title,
      name,
      each.firstMs,
      each.overMs,
      each.firstCpuMs,
      each.overCpuMs,
    ]),
  );
  return table(['first', 'contender', 'ms', 'over the tenth', 'CPU ms', 'over the tenth'], rows);
}

function memoryTable(memory) {
  const { idleMb, ...contenders } = memory;
  const rows = Object.entries(contenders).map(([name, each]) => [
    name,
    each.before,
    each.most,
    each.perStreamKb,
    each.failed,
  ]);
  const idle = `serve without a configuration, idle, all processes: ${Math.round(idleMb)} MB`;
  return `${table(['contender', 'MB before', 'MB most', 'KB each', 'failed'], rows)}\n\n${idle}`;
}

function coldTable(cold) {
  const rows = Object.entries(cold).map(([name, each]) => [
    name,
    each.coldMs,
    each.coldMs / cold.bare?.coldMs,
    each.residentMb,
  ]);
  return table(['contender', 'ms', '× bare', 'MB'], rows);
}

function workersTable(rows) {
  return table(
    [
      'on',
      'contender',
      'workers',
      'CPU',
      'CPU × one',
      'requests/s',
      'rate × one',
      'p50',
      'foreign',
      'failed',
    ],
    rows.map((row) => [
      row.scenario,
      row.contender,
      row.workers,
      row.cpu,
      row.cpu_x_one,
      row.rate,
      row.rate_x_one,
      row.p50,
      row.foreign,
      row.failed,
    ]),
  );
}

function goalTable(results) {
  const rows = goalRows(results).map(({ goal, unit, must, aim, now, verdict }) => [
    goal,
    unit,
    `≤ ${must}`,
    aim === undefined ? '' : `≤ ${aim}`,
    now,
    verdict,
  ]);
  return table(['goal', 'against', 'must', 'aim', 'now', 'reached'], rows);
}

/** Columns of text; numbers get as many digits as they are worth. */
export function table(titles, rows) {
  const cells = [titles, ...rows.map((row) => row.map(toCell))];
  const widths = titles.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  return cells
    .map((row) =>
      row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join('  '),
    )
    .join('\n');
}

function toCell(value) {
  if (typeof value === 'string') return value;
  if (value === undefined || !Number.isFinite(value)) return '-';
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}
