// node http-proxy-server.mjs PORT PROVIDER_PORT KEY
import http from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { peerFolder } from '../install.mjs';

const [port, providerPort, key] = process.argv.slice(2);
const requireFromPeer = createRequire(join(peerFolder('http-proxy'), 'package.json'));
const proxy = requireFromPeer('http-proxy').createProxyServer({
  target: `http://127.0.0.1:${providerPort}`,
  agent: new http.Agent({ keepAlive: true, maxSockets: 2_048 }),
});
proxy.on('error', (_error, _request, response) => response.destroy());
http
  .createServer((request, response) => {
    if (request.headers.authorization === `Bearer ${key}`) return proxy.web(request, response);
    response.statusCode = 401;
    response.end();
  })
  .listen(Number(port), '127.0.0.1', 4_096);
