// node undici-proxy-server.mjs PORT PROVIDER_PORT KEY
import http from 'node:http';
import { Pool } from 'undici';

const [port, providerPort, key] = process.argv.slice(2);
const pool = new Pool(`http://127.0.0.1:${providerPort}`, {
  pipelining: 1,
  headersTimeout: 0,
  bodyTimeout: 0,
});
const dropped = new Set(['connection', 'keep-alive', 'transfer-encoding']);

http
  .createServer((request, response) => {
    if (request.headers.authorization !== `Bearer ${key}`) return response.writeHead(401).end();
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () =>
      forward(request, response, pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)),
    );
  })
  .listen(Number(port), '127.0.0.1', 4_096);

function forward({ method, url: path }, response, body) {
  const headers = ['content-type', 'application/json', 'authorization', 'Bearer sk-provider'];
  pool.dispatch(
    { method, path, headers, body },
    {
      onRequestStart(controller) {
        response.once(
          'close',
          () => response.writableFinished || controller.abort(new Error('the client left')),
        );
      },
      onResponseStart(_controller, status, answerHeaders) {
        const list = Object.entries(answerHeaders).flatMap((pair) => (dropped.has(pair[0]) ? [] : pair));
        response.writeHead(status, list);
      },
      onResponseData(controller, piece) {
        if (response.write(piece)) return;
        controller.pause();
        response.once('drain', () => controller.resume());
      },
      onResponseEnd: () => response.end(),
      onResponseError: () => response.destroy(),
    },
  );
}
