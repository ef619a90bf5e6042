// Brings what the benchmark needs: Debian's nginx, HAProxy and wrk, and the peers from npm in a cache folder
// outside the repository. Does nothing where all is there.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'gateway-bench');

const programs = { nginx: 'nginx-light', haproxy: 'haproxy', wrk: 'wrk', h2load: 'nghttp2-client' };

const peers = {
  // With the newest 1.x of @hono/node-server, which a plain install takes, every stream of this version is a 500.
  portkey: {
    dependencies: { '@portkey-ai/gateway': '1.15.2' },
    overrides: { '@hono/node-server': '1.13.8' },
  },
  'http-proxy': { dependencies: { 'http-proxy': '1.18.1' } },
};

export function install() {
  installPrograms();
  for (const [name, manifest] of Object.entries(peers)) installPeer(name, manifest);
}

export function peerFolder(name) {
  return join(cache, name);
}

/** What was measured against, for the results. */
export function versions() {
  const first = (command, argument) => {
    const { stdout, stderr } = spawnSync(command, [argument], { encoding: 'utf8' });
    return /\d+\.\d+[\w.~-]*/.exec(stdout + stderr)?.[0] ?? 'unknown';
  };
  const ofPeer = (folder, name) => {
    const file = join(cache, folder, 'node_modules', name, 'package.json');
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : 'unknown';
  };
  return {
    nginx: first('nginx', '-v'),
    haproxy: first('haproxy', '-v'),
    wrk: first('wrk', '-v'),
    h2load: first('h2load', '--version'),
    portkey: ofPeer('portkey', '@portkey-ai/gateway'),
    'http-proxy': ofPeer('http-proxy', 'http-proxy'),
  };
}

function installPrograms() {
  const missing = Object.keys(programs).filter((name) => spawnSync('which', [name]).status !== 0);
  if (missing.length === 0) return;
  const packages = missing.map((name) => programs[name]);
  console.error(`installing ${packages.join(', ')} with apt-get`);
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  mustRun('apt-get', ['update', '-qq'], { env: environment });
  mustRun('apt-get', ['install', '-y', '-qq', ...packages], { env: environment });
}

function installPeer(name, manifest) {
  const folder = peerFolder(name);
  const text = JSON.stringify({ private: true, ...manifest }, null, 2);
  const file = join(folder, 'package.json');
  const isThere = existsSync(join(folder, 'node_modules')) && existsSync(file);
  if (isThere && readFileSync(file, 'utf8') === text) return;
  console.error(`installing ${name} into ${folder}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, text);
  mustRun('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder });
}

function mustRun(command, args, options) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], ...options });
  if (status === 0) return;
  throw new Error(
    `${command} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}; install it by hand and try again`,
  );
}
