import { join } from 'node:path';

/** A bare proxy on what the gateway stands on, node:http and undici: what no gateway on them gets below by much. */
export const undiciProxy = {
  name: 'bare',
  prepare({ port, provider, key, workers = 1 }) {
    const program = join(import.meta.dirname, 'undici-proxy-server.mjs');
    return {
      command: [process.execPath, program, String(port), String(provider.port), key, String(workers)],
    };
  },
};
