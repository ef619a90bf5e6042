// Requests at a constant rate over as many connections as that takes. HTTP is read just far enough to know where an
// answer ends, because the load must not need the core that the provider shares with it.
import { connect } from 'node:net';
import { createHistogram, performance } from 'node:perf_hooks';
import { path } from './request.mjs';

const tickMs = 1;
/**
 * Requests that are due while all of these are busy wait, and their waiting counts. With a connection for each, a
 * pause of some milliseconds would open hundreds, which cost more than what they ask for: overload, not a steady load.
 */
const maxConnections = 256;

export class OpenLoad {
  #port;
  #bytes;
  #perMs;
  #idle = [];
  #connections = 0;
  /** When each request was due that found no connection and waits for one. */
  #waiting = [];
  #sent = 0;
  #startedAt = 0;
  #timer;
  #latency = createHistogram();
  #late = createHistogram();
  #failed = 0;

  /** @param rate requests a second. */
  constructor({ port, headers, body, rate }) {
    this.#port = port;
    const head = [
      `POST ${path} HTTP/1.1`,
      `host: 127.0.0.1:${port}`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ];
    this.#bytes = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
    this.#perMs = rate / 1_000;
  }

  start() {
    this.#startedAt = performance.now();
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  stop() {
    clearInterval(this.#timer);
    for (const socket of this.#idle) socket.destroy();
  }

  /** What came since the last call, in milliseconds; `late99` is how late the load itself was. */
  takeCounts() {
    const ms = (histogram, percentile) => histogram.percentile(percentile) / 1_000;
    const counts = {
      answered: this.#latency.count,
      failed: this.#failed,
      p50: ms(this.#latency, 50),
      p99: ms(this.#latency, 99),
      late99: ms(this.#late, 99),
    };
    this.#latency.reset();
    this.#late.reset();
    this.#failed = 0;
    return counts;
  }

  /** Sends what is due by now. What a tick that came late should have sent was due before it. */
  #tick() {
    const now = performance.now();
    const due = Math.floor((now - this.#startedAt) * this.#perMs);
    for (; this.#sent < due; this.#sent += 1) {
      const batch = Math.ceil((this.#sent + 1) / this.#perMs / tickMs) * tickMs;
      const dueAt = this.#startedAt + batch;
      this.#late.record(toMicros(now - dueAt));
      this.#send(dueAt);
    }
  }

  #send(dueAt) {
    const socket = this.#idle.pop();
    if (socket !== undefined) return socket.ask(dueAt);
    this.#waiting.push(dueAt);
    if (this.#connections < maxConnections) this.#open();
  }

  #open() {
    this.#connections += 1;
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    let askedAt;
    let answer = '';
    socket.ask = (dueAt) => {
      askedAt = dueAt;
      socket.write(this.#bytes);
    };
    const free = () => {
      askedAt = undefined;
      const next = this.#waiting.shift();
      if (next !== undefined) return socket.ask(next);
      this.#idle.push(socket);
    };
    socket.setEncoding('latin1');
    socket.on('connect', free);
    socket.on('data', (chunk) => {
      answer += chunk;
      const length = answerLength(answer);
      if (answer.length < length) return;
      if (answer.startsWith('HTTP/1.1 200 ')) this.#latency.record(toMicros(performance.now() - askedAt));
      else this.#failed += 1;
      answer = '';
      free();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#connections -= 1;
      if (askedAt !== undefined) this.#failed += 1;
      else this.#idle = this.#idle.filter((each) => each !== socket);
    });
  }
}

/** Bytes of an answer whose head has come; more than there can be before that. */
function answerLength(text) {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return Number.POSITIVE_INFINITY;
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, headEnd + 2)) ?? [];
  if (length === undefined) throw new Error('an answer without content-length');
  return headEnd + 4 + Number(length);
}

/** The histogram takes whole numbers from 1. */
function toMicros(ms) {
  return Math.max(1, Math.round(ms * 1_000));
}
