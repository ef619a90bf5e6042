import { join } from 'node:path';
import { peerFolder } from '../install.mjs';

/** The gateway most like ours: Node, OpenAI-compatible. It has no keys of its own and no policy here. */
export const portkey = {
  name: 'portkey',
  prepare({ port, provider }) {
    const program = join(peerFolder('portkey'), 'node_modules/@portkey-ai/gateway/build/start-server.js');
    return {
      command: [process.execPath, program, `--port=${port}`, '--headless'],
      environment: { NODE_ENV: 'production' },
      headers: {
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': `http://127.0.0.1:${provider.port}/v1`,
      },
    };
  },
};
