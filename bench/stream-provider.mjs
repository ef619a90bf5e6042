// node stream-provider.mjs PORT: a provider that streams as the request's text asks ("Give N events, one every
// G ms"), each event in a chunk and a write of its own; every 0 ms means as fast as they are taken. Each event
// carries its time in microseconds, so that whoever reads it knows how long it was on its way.
import { createServer } from 'node:http';

const done = 'data: [DONE]\n\n';
const head = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
/** Streams by gap: one timer for all that share it. */
const paced = new Map();

createServer({ noDelay: true }, (request, response) => {
  let body = '';
  request.setEncoding('latin1').on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    const [, events = '1', gapMs = '0'] = /Give (\d+) events, one every (\d+) ms/.exec(body) ?? [];
    const stream = { response, left: Number(events) };
    response.writeHead(200, head);
    response.flushHeaders();
    if (Number(gapMs) === 0) return flood(stream);
    pace(stream, Number(gapMs));
  });
}).listen({ port: Number(process.argv[2]), host: '127.0.0.1', backlog: 4_096 });

function flood(stream) {
  const { response } = stream;
  while (stream.left > 0 && !response.destroyed) {
    stream.left -= 1;
    if (!response.write(event())) return response.once('drain', () => flood(stream));
  }
  response.end(done);
}

function pace(stream, gapMs) {
  let streams = paced.get(gapMs);
  if (streams === undefined) {
    streams = new Set();
    paced.set(gapMs, streams);
    setInterval(tick, gapMs, streams);
  }
  streams.add(stream);
  stream.response.once('close', () => streams.delete(stream));
}

function tick(streams) {
  const bytes = event();
  for (const stream of streams) {
    stream.left -= 1;
    stream.response.write(bytes);
    if (stream.left > 0) continue;
    streams.delete(stream);
    stream.response.end(done);
  }
}

function event() {
  const micros = process.hrtime.bigint() / 1_000n;
  return `data: {"id":"c","object":"chat.completion.chunk","t":${String(micros).padStart(16, '0')},"choices":[{"delta":{"content":"tok"}}]}\n\n`;
}
