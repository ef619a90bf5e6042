import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addUser } from '../../../src/plants/store.ts';
import { startProgram } from '../../kit/child.ts';
import { emptyDirectory } from '../../kit/command.ts';
import { logIn, rosa } from '../fixture.ts';

export interface ServedStore {
  readonly gatewayUrl: string;
  readonly url: string;
  readonly token: string;
  /** The process that the store runs in now; undefined between two. */
  storePid(): number | undefined;
  isGatewayAlive(): boolean;
  log(): string;
  /** Ends the gateway as `kill -9` does. */
  kill(): void;
  stop(): Promise<void>;
}

const cheap = 2 ** 12;

/** The store as `gateway serve` runs it, with the user rosa logged in. */
export async function serveStore(database: string, argv: readonly string[] = []): Promise<ServedStore> {
  await addUser(database, rosa, cheap);
  const home = emptyDirectory();
  writeFileSync(join(home, 'gateway.yaml'), `plants: { store: { port: 0, database: "${database}" } }\n`, {
    mode: 0o600,
  });
  const child = startProgram(['serve', '-p', '0', '--log', 'json', ...argv], home);
  await child.wrote('"listening"');
  const lines = child
    .text('stderr')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  const urlOf = (message: string): string => lines.find(({ msg, url }) => msg === message && url).url;
  const url = urlOf('plants');
  const { pid } = child.process;
  let hasEnded = false;
  void child.ended.then(() => {
    hasEnded = true;
  });
  return {
    gatewayUrl: urlOf('listening'),
    url,
    token: await logIn({ url }),
    storePid: () => {
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
      return children === '' ? undefined : Number(children.split(' ')[0]);
    },
    isGatewayAlive: () => !hasEnded,
    log: () => child.text('stderr'),
    kill: () => void child.process.kill('SIGKILL'),
    stop: async () => {
      child.process.kill('SIGTERM');
      await child.ended;
    },
  };
}
