// node undici-proxy-server.mjs PORT PROVIDER_PORT KEY [PROCESSES]
// As little as a proxy on node:http and undici can do by their public API: it is the floor of everything on them.
import cluster from 'node:cluster';
import http from 'node:http';
import { Pool } from 'undici';

const [port, providerPort, key, processes = '1'] = process.argv.slice(2);
const pool = new Pool(`http://127.0.0.1:${providerPort}`, {
  pipelining: 1,
  headersTimeout: 0,
  bodyTimeout: 0,
});
const dropped = new Set(['connection', 'keep-alive', 'transfer-encoding']);
const authorization = `Bearer ${key}`;

if (cluster.isPrimary && processes !== '1') for (let at = 0; at < Number(processes); at += 1) cluster.fork();
else serve();

function serve() {
  http
    .createServer({ noDelay: true }, (request, response) => {
      if (request.headers.authorization !== authorization) return response.writeHead(401).end();
      process.nextTick(readBody, request, response); // what came with the head is there only then
    })
    .listen(Number(port), '127.0.0.1', 4_096);
}

function readBody(request, response) {
  const length = Number(request.headers['content-length'] ?? 0);
  if (request.readableLength === length) return forward(request, response, request.read());
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => forward(request, response, Buffer.concat(pieces)));
}

function forward({ method, url: path }, response, body) {
  const headers = ['content-type', 'application/json', 'authorization', 'Bearer sk-provider'];
  pool.dispatch({ method, path, headers, body }, new Answer(response));
}

class Answer {
  #length = -1;

  constructor(response) {
    this.response = response;
  }

  onRequestStart(controller) {
    const { response } = this;
    response.once('close', () => response.writableFinished || controller.abort(new Error('the client left')));
  }

  onResponseStart(_controller, status, headers) {
    const list = [];
    for (const name in headers) if (!dropped.has(name)) list.push(name, headers[name]);
    this.#length = Number(headers['content-length'] ?? -1);
    this.response.writeHead(status, list);
  }

  onResponseData(controller, piece) {
    const { response } = this;
    // A whole answer as text leaves in one piece with its head.
    if (piece.length === this.#length && piece.length < 16_384) {
      response.end(piece.latin1Slice(), 'latin1');
    } else if (!response.write(piece)) {
      controller.pause();
      response.once('drain', () => controller.resume());
    }
  }

  onResponseEnd() {
    if (!this.response.writableEnded) this.response.end();
  }

  onResponseError() {
    this.response.destroy();
  }
}
