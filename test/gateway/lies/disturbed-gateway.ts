import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configure } from '../../cli/serve/workers/serving.ts';
import { type Child, startProgram } from '../../kit/child.ts';
import { emptyDirectory } from '../../kit/command.ts';
import { secrets } from '../../kit/gateway.ts';

/** What happens to a gateway while requests are open. */
const disturbances = ['reload', 'SIGTERM', 'SIGKILL'] as const;

export interface DisturbedGateway {
  /** Where it serves now. */
  readonly url: string;
  readonly key: string;
  /** The next of all kinds of disturbance; resolves when it serves again. */
  disturb(): Promise<void>;
  stop(): Promise<void>;
}

/** The real program with its ledger, which is reloaded, ended and killed in between. */
export async function startDisturbed(yaml: string): Promise<DisturbedGateway> {
  const home = emptyDirectory();
  configure(home, yaml);
  let child: Child;
  let url = '';
  let count = 0;
  const start = async () => {
    child = startProgram(['serve', '-p', '0', '--no-watch'], home, { PROJECT_KEY: secrets.PROJECT_KEY });
    await child.wrote('"listening"');
    ({ url } = JSON.parse(readFileSync(join(home, '.local/state/gateway/running.json'), 'utf8')));
  };
  await start();
  return {
    get url() {
      return url;
    },
    key: secrets.PROJECT_KEY,
    async disturb() {
      const kind = disturbances[count % disturbances.length];
      count += 1;
      if (kind === undefined) return;
      if (kind === 'reload') {
        configure(home, `# ${count}\n${yaml}`);
        const reloads = () => child.text('stderr').split('configuration reloaded').length;
        const before = reloads();
        child.process.kill('SIGHUP');
        while (reloads() === before && child.process.stderr !== null)
          await once(child.process.stderr, 'data');
        return;
      }
      child.process.kill(kind);
      await child.ended;
      await start();
    },
    async stop() {
      child.process.kill('SIGTERM');
      await child.ended;
    },
  };
}
