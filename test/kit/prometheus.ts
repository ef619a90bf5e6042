import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, untilListening } from './ports.ts';

/** Whether Prometheus and its tool are installed here. */
export const hasPrometheus =
  spawnSync('prometheus', ['--version']).status === 0 && spawnSync('promtool', ['--version']).status === 0;

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export interface Prometheus {
  /** The result of an instant query. Throws where the query is not valid. */
  query(expression: string): Promise<readonly Sample[]>;
  /** The same, once there is a sample that fits. */
  until(expression: string, fits: (sample: Sample) => boolean): Promise<readonly Sample[]>;
  stop(): Promise<void>;
}

/** A real Prometheus on loopback, by a configuration of the test's own. */
export async function startPrometheus(configuration: string): Promise<Prometheus> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-prometheus-'));
  const port = await freePort();
  const file = join(directory, 'prometheus.yml');
  writeFileSync(file, configuration);
  const data = [`--config.file=${file}`, `--storage.tsdb.path=${join(directory, 'data')}`];
  const address = `127.0.0.1:${port}`;
  const options = [...data, `--web.listen-address=${address}`, '--log.level=error'];
  const child = spawn('prometheus', options, { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await untilListening(port);
  const query = async (expression: string): Promise<readonly Sample[]> => {
    const found = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const answer = (await found.json()) as {
      status: string;
      error?: string;
      data: { result: readonly Sample[] };
    };
    if (answer.status !== 'success') throw new Error(`${expression}: ${answer.error}`);
    return answer.data.result;
  };
  return {
    query,
    until: async (expression, fits) => {
      for (let tries = 0; tries < 300; tries += 1) {
        const found = await query(expression).catch(() => []); // it may not be ready yet
        if (found.some(fits)) return found;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error(`${expression} has no such value: ${JSON.stringify(await query(expression))}`);
    },
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** What `promtool` objects to; empty where nothing. */
export function promtool(args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return status === 0 ? stderr.trim() : `${stdout}${stderr}`;
}
