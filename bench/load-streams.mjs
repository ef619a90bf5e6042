// node load-streams.mjs '{"port":…,"headers":{…},"body":"…","streams":…,"events":…,"path":"…"}'
// Opens streams, five every five milliseconds, reads them to their ends and prints one line of figures. With
// `warmPort` it opens as many of another server first, uncounted, so that its own code is warm.
import http from 'node:http';

const { port, path, headers, body, streams, events, warmPort } = JSON.parse(process.argv[2]);
const warmUpStreams = 400;
const doneEvents = 1; // [DONE]
const limitMs = 60_000;
const firstBytes = [];
const delays = [];
let seen = 0;
let failed = 0;
let open = streams;
let firstAt = 0;
let lastAt = 0;

setTimeout(report, limitMs).unref();
if (warmPort !== undefined) await warmUp();
for (let i = 0; i < streams; i += 1) setTimeout(openStream, Math.floor(i / 5) * 5);

async function warmUp() {
  const one = body.replace(/Give \d+ events, one every \d+ ms/, 'Give 5 events, one every 0 ms');
  for (let begun = 0; begun < warmUpStreams; begun += 5) {
    await Promise.all(Array.from({ length: 5 }, () => read(one)));
  }
}

function read(text) {
  return new Promise((resolve, reject) => {
    const request = http.request({
      port: warmPort,
      host: '127.0.0.1',
      path,
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
    });
    request.on('response', (response) => {
      response.on('data', (chunk) => eventsIn(chunk, false)).on('end', resolve);
    });
    request.on('error', reject).end(text);
  });
}

function openStream() {
  let sentAt = 0;
  let count = 0;
  let isOver = false;
  const over = (isComplete) => {
    if (isOver) return;
    isOver = true;
    if (!isComplete || count !== events + doneEvents) failed += 1;
    seen += Math.max(0, count - doneEvents);
    lastAt = now();
    open -= 1;
    if (open === 0) report();
  };
  const request = http.request({
    port,
    host: '127.0.0.1',
    path,
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
  });
  request.on('socket', (socket) => socket.setNoDelay(true).once('connect', () => (sentAt = now())));
  request.on('response', (response) => {
    const arrivedAt = now();
    firstBytes.push(arrivedAt - sentAt);
    firstAt ||= arrivedAt;
    let endedInNewline = false;
    response.on('data', (chunk) => {
      if (count % 8 === 0) noteDelay(chunk);
      count += eventsIn(chunk, endedInNewline);
      endedInNewline = chunk[chunk.length - 1] === 10 && chunk[chunk.length - 2] !== 10;
    });
    response.on('close', () => over(response.complete && response.statusCode === 200));
  });
  request.on('error', () => over(false));
  request.end(body);
}

/** Ends of events: blank lines, one of which may lie across two chunks. */
function eventsIn(chunk, endedInNewline) {
  let found = endedInNewline && chunk[0] === 10 ? 1 : 0;
  for (let at = chunk.indexOf('\n\n'); at >= 0; at = chunk.indexOf('\n\n', at + 2)) found += 1;
  return found;
}

function noteDelay(chunk) {
  const at = chunk.indexOf('"t":');
  if (at >= 0 && at + 20 <= chunk.length) delays.push(now() - Number(chunk.latin1Slice(at + 4, at + 20)));
}

function report() {
  const figures = {
    events: seen,
    wanted: streams * events,
    failed: failed + open,
    micros: lastAt - firstAt,
    first50: percentile(firstBytes, 0.5),
    first99: percentile(firstBytes, 0.99),
    delay50: percentile(delays, 0.5),
    delay99: percentile(delays, 0.99),
  };
  process.stdout.write(`\n${JSON.stringify(figures)}\n`, () => process.exit(0));
}

function percentile(values, share) {
  const sorted = values.sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
}

function now() {
  return Number(process.hrtime.bigint() / 1_000n);
}
