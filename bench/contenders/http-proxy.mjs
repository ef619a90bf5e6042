import { join } from 'node:path';

/** The proxy of most Node programs, with a key check before it. */
export const httpProxy = {
  name: 'http-proxy',
  prepare({ port, provider, key }) {
    const program = join(import.meta.dirname, 'http-proxy-server.mjs');
    return { command: [process.execPath, program, String(port), String(provider.port), key] };
  },
};
