import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { freePort, untilListening } from '../kit/ports.ts';
import { deployed, root } from './parts.ts';

// The steps of the Dockerfile, run one by one in empty folders: there is no Docker here. Only `npm ci`, which
// downloads, is replaced by a copy of what it has installed.

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const nobody = { uid: 65_534, gid: 65_534 };
/** As root, and where everybody may run Node. */
const canBeNobody =
  process.getuid?.() === 0 && spawnSync('node', ['--version'], { ...nobody, cwd: '/' }).status === 0;

interface Instruction {
  readonly name: string;
  readonly rest: string;
}

function instructions(): Instruction[] {
  const lines = deployed('Dockerfile')
    .replace(/\\\n\s*/g, '')
    .split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ name: line.split(' ', 1)[0] as string, rest: line.slice(line.indexOf(' ') + 1) }));
}

interface Stage {
  readonly folder: string;
  workdir: string;
}

const run = (command: string, cwd: string) =>
  execFileSync('sh', ['-ec', command], {
    cwd,
    stdio: 'pipe',
    env: { PATH: process.env.PATH ?? '', HOME: cwd },
  });

function build(base: string): { image: Stage; words: ReadonlyMap<string, string> } {
  const stages = new Map<string, Stage>();
  const words = new Map<string, string>();
  let stage: Stage = { folder: base, workdir: base };
  for (const { name, rest } of instructions()) {
    switch (name) {
      case 'FROM': {
        const folder = mkdtempSync(join(base, 'stage-'));
        chmodSync(folder, 0o755);
        stage = { folder, workdir: folder };
        stages.set(rest.split(' AS ')[1] ?? 'image', stage);
        break;
      }
      case 'WORKDIR':
        stage.workdir = join(stage.folder, rest);
        mkdirSync(stage.workdir, { recursive: true });
        break;
      case 'COPY':
        copy(rest, stage, stages);
        break;
      case 'RUN':
        runStep(rest, stage);
        break;
      default:
        words.set(name, rest);
    }
  }
  return { image: stage, words };
}

function copy(rest: string, { workdir }: Stage, stages: ReadonlyMap<string, Stage>): void {
  const parts = rest.split(' ');
  const from = parts[0]?.startsWith('--from=')
    ? stages.get((parts.shift() as string).slice(7))?.folder
    : root;
  const to = parts.pop() as string;
  for (const part of parts) {
    // A folder's content goes into the folder that is named, a file into the one that is there.
    execFileSync('cp', ['-a', join(from as string, part), to === './' ? workdir : join(workdir, to)]);
  }
}

function runStep(command: string, { folder, workdir }: Stage): void {
  if (command.startsWith('npm ci ')) {
    // Links take a tenth of the time, within one file system.
    const how = statSync(root).dev === statSync(workdir).dev ? '-al' : '-a';
    execFileSync('cp', [how, join(root, 'node_modules'), join(workdir, 'node_modules')]);
    // npm writes into this one, which must not be the repository's.
    const list = join(workdir, 'node_modules/.package-lock.json');
    rmSync(list);
    copyFileSync(join(root, 'node_modules/.package-lock.json'), list);
    return;
  }
  const owner = canBeNobody ? '65534:65534' : `${process.getuid?.()}`;
  run(command.replaceAll('/var/', `${folder}/var/`).replace('node:node', owner), workdir);
}

test('its steps make a program that serves, as nobody, and says that it is healthy', async () => {
  // Not below the checkout, which may be in a home that nobody else may enter.
  const base = mkdtempSync(join(tmpdir(), 'dockerfile-'));
  chmodSync(base, 0o755);
  closing.push(() => rmSync(base, { recursive: true, force: true }));
  const { image, words } = build(base);
  const port = await freePort();
  const configuration = join(base, 'gateway.yaml');
  writeFileSync(configuration, 'plants: { store: { enabled: false } }\n');
  const list = (name: string) => JSON.parse(words.get(name) ?? '') as string[];
  const [program = '', ...entry] = list('ENTRYPOINT');
  const args = list('CMD').map((word) => word.replace('/etc/gateway/gateway.yaml', configuration));
  const state = join(image.folder, 'var/lib');
  const user = canBeNobody ? nobody : {};
  const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent', XDG_STATE_HOME: state };
  const child = spawn(program, [...entry, ...args, '-p', String(port)], {
    cwd: image.workdir,
    env,
    ...user,
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  closing.push(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await untilListening(port);

  const check = words.get('HEALTHCHECK')?.split(' CMD ')[1] ?? '';
  const [command = '', ...checkArgs] = JSON.parse(check) as string[];
  const isHealthy = () => spawnSync(command, checkArgs, { env }).status === 0;
  await expect.poll(isHealthy, { timeout: 10_000 }).toBe(true);
  expect(words.get('USER')).toBe('node');
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(isHealthy()).toBe(false);
}, 120_000);

test('nothing of the development is left in it', () => {
  const { name, rest } = instructions().findLast((each) => each.name === 'FROM') as Instruction;
  const copied = instructions().flatMap((each) =>
    each.name === 'COPY' && each.rest.includes('--from') ? [each.rest] : [],
  );

  expect([name, rest]).toEqual(['FROM', 'node:22-slim']);
  expect(copied.filter((each) => /src\/src|scripts|test/.test(each))).toEqual([]);
});
