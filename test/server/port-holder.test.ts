import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { portHolder } from '../../src/server/port-holder.ts';
import { homeWith } from '../kit/command.ts';

const listener = `const server = require('node:net').createServer();
server.listen(0, '127.0.0.1', () => process.stdout.write(String(server.address().port)));`;

test.runIf(process.platform === 'linux')(
  'who holds a port is named by the script that it runs, without options and arguments',
  async () => {
    const script = join(homeWith({ 'listener.cjs': listener }), 'listener.cjs');
    // Node names every program alike, by its binary or as MainThread.
    const child = spawn(process.execPath, ['--no-warnings', script, '--key=secret', 'secret']);
    onTestFinished(() => void child.kill('SIGKILL'));
    const [port] = await once(child.stdout, 'data');

    expect(portHolder(Number(port))).toBe(`node listener.cjs (pid ${child.pid})`);
  },
);
