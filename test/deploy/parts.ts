import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { untilListening } from '../kit/ports.ts';

export const root = join(import.meta.dirname, '..', '..');
export const deployed = (...path: string[]) => readFileSync(join(root, 'deploy', ...path), 'utf8');

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
}

interface ComposeService {
  readonly environment?: Readonly<Record<string, string>>;
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
}

export function compose(): Compose {
  return parse(deployed('compose.yaml'), { merge: true }) as Compose;
}

/** The environment of a service, with `${NAME…}` taken from `values`. */
export function environmentOf(
  service: string,
  values: Readonly<Record<string, string>>,
): Record<string, string> {
  const { environment = {} } = compose().services[service] ?? {};
  return Object.fromEntries(
    Object.entries(environment).map(([name, text]) => [
      name,
      text.replace(/\$\{(\w+)(?::[-?][^}]*)?\}/g, (_whole, variable: string) => values[variable] ?? ''),
    ]),
  );
}

/** nginx by the file of `deploy/`, with these addresses in the place of those in it. */
export async function startNginx(addresses: Readonly<Record<string, string>>, port: number) {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-nginx-'));
  let text = deployed('nginx.conf').replaceAll('/tmp/', `${directory}/`);
  for (const [name, address] of Object.entries(addresses)) text = text.replace(name, address);
  const file = join(directory, 'nginx.conf');
  writeFileSync(file, text.replace('listen 8080', `listen 127.0.0.1:${port}`));
  const user = process.getuid?.() === 0 ? 'user root; ' : '';
  const child: ChildProcess = spawn('nginx', ['-c', file, '-g', `${user}daemon off;`], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await untilListening(port);
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
