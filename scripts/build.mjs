#!/usr/bin/env node
// Makes dist/, unless it is already what these sources and packages make: npm runs this at every `npm ci` in a checkout
// and, depending on its version, at every `npx gateway` too. Files of the build before stay, for the commands that
// are running (docs/decisions/bundle.md).
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const stampFile = join(dist, '.stamp.json');
const lockFile = join(dist, '.lock');
/** What is compiled for the Node that builds is beside them: its version is no input. */
const inputs = [
  ...['build', 'bundle', 'compile/rehearse', 'inspector-page', 'third-party-notice'].map(
    (name) => `scripts/${name}.mjs`,
  ),
  ...['src', 'vendor/swagger-ui', 'package.json', 'tsconfig.json'],
];
const keptBuilds = 3;
const longestBuildMs = 120_000;
const longestRehearsalMs = 20_000;
/** Options with which the gateway is started, as V8 takes compiled code only with the flags that it was compiled with. */
const nodeOptions = [[], ['--max-semi-space-size=16', '--no-memory-reducer']];

const id = hashOfInputs();
try {
  if (!isBuilt()) await withLock(build);
  if (readStamp().compiledBy !== process.version)
    await withLock(compile).catch((error) => {
      if (!isForbidden(error)) throw error; // another user's, and built by another Node: it only starts later
    });
  // A package holds one build.
  if (['pack', 'publish'].includes(process.env.npm_command)) removeOtherFiles([id]);
} catch (error) {
  if (!isForbidden(error)) throw error;
  process.stderr.write(`dist/ is of other sources or packages, and can't be written: ${error.message}\n`);
  // npx runs what is there.
  process.exitCode = process.env.npm_command === 'exec' ? 0 : 1;
}

async function build() {
  if (isBuilt()) return; // by the one that had the lock
  const earlier = readStamp()?.builds ?? [];
  const { bundleFiles } = await import('./bundle.mjs');
  const { files, packages } = await bundleFiles(id);
  mkdirSync(join(dist, 'page/assets'), { recursive: true });
  // A command begins with main.js, which therefore comes last.
  const inOrder = [...files].sort(
    ([one], [other]) => Number(one === 'main.js') - Number(other === 'main.js'),
  );
  for (const [name, content] of inOrder) replaceFile(join(dist, name), content);
  const stamp = {
    builds: [id, ...earlier.filter((other) => other !== id)].slice(0, keptBuilds),
    files: Object.fromEntries([...files].map(([name, content]) => [name, Buffer.byteLength(content)])),
    packages: Object.fromEntries(
      [...packages, join(root, 'node_modules/rolldown')].map((folder) => [
        relative(root, folder),
        versionOf(folder),
      ]),
    ),
  };
  replaceFile(stampFile, JSON.stringify(stamp));
  removeOtherFiles(stamp.builds);
}

/**
 * Has V8 compile the program, so that no start has to (docs/decisions/bundle.md). Where that fails, it only starts more
 * slowly, and isn't tried again.
 */
function compile() {
  const stamp = readStamp();
  if (stamp.compiledBy === process.version) return; // by the one that had the lock
  try {
    for (const options of nodeOptions) rehearse(options);
  } catch (error) {
    process.stderr.write(`dist/ starts more slowly, as it could not be compiled: ${error.message}\n`);
  }
  replaceFile(stampFile, JSON.stringify({ ...stamp, compiledBy: process.version }));
}

function rehearse(options) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-rehearsal-'));
  try {
    const { status, signal, stderr, error } = spawnSync(
      process.execPath,
      [...options, join(root, 'scripts/compile/rehearse.mjs'), id, folder],
      {
        env: { HOME: folder },
        stdio: ['ignore', 'ignore', 'pipe'],
        encoding: 'utf8',
        timeout: longestRehearsalMs,
        killSignal: 'SIGKILL',
      },
    );
    if (status !== 0)
      throw new Error(`${error?.message ?? signal ?? `exit code ${status}`}\n${stderr ?? ''}`.trim());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether dist/ is whole, and made of what is there now. */
function isBuilt() {
  const stamp = readStamp();
  if (stamp?.builds[0] !== id) return false;
  const isThere = ([name, size]) => statSync(join(dist, name), { throwIfNoEntry: false })?.size === size;
  // One that isn't installed can't be bundled either: only a runtime's packages are there.
  const isSame = ([folder, version]) => [version, undefined].includes(versionOf(join(root, folder)));
  return Object.entries(stamp.files).every(isThere) && Object.entries(stamp.packages).every(isSame);
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(stampFile, 'utf8'));
  } catch {
    return undefined; // never built, or by an earlier version of this script
  }
}

function hashOfInputs() {
  const hash = createHash('sha256');
  for (const input of inputs.flatMap(filesOf)) {
    const content = readFileSync(join(root, input));
    hash.update(`${input}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 8);
}

function filesOf(input) {
  const path = join(root, input);
  if (!statSync(path).isDirectory()) return [input];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return files.map((file) => relative(root, file)).sort();
}

function versionOf(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
  } catch {
    return undefined;
  }
}

/** Nobody sees half of a file. */
function replaceFile(path, content) {
  const beside = `${path}.${process.pid}.new`;
  writeFileSync(beside, content);
  renameSync(beside, path);
}

function isForbidden({ code }) {
  return ['EACCES', 'EPERM', 'EROFS'].includes(code);
}

/** What neither the build that dist/ holds nor one of these has left. */
function removeOtherFiles(builds) {
  const { files } = readStamp();
  for (const entry of readdirSync(dist, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    const isOfBuild = builds.some((build) => entry.name.includes(`-${build}`));
    const isNeeded = isOfBuild || path === stampFile || path === lockFile || relative(dist, path) in files;
    if (!entry.isDirectory() && !isNeeded) rmSync(path, { force: true });
  }
}

/** Runs it while nobody else builds. A lock whose owner has ended counts for nothing. */
async function withLock(run) {
  mkdirSync(dist, { recursive: true });
  while (!takeLock()) await new Promise((resolve) => setTimeout(resolve, 50));
  try {
    await run();
  } finally {
    rmSync(lockFile, { force: true });
  }
}

function takeLock() {
  try {
    const lock = openSync(lockFile, 'wx');
    writeSync(lock, String(process.pid));
    closeSync(lock);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (isLockAbandoned()) rmSync(lockFile, { force: true });
    return false;
  }
}

function isLockAbandoned() {
  const age = Date.now() - (statSync(lockFile, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  if (age > longestBuildMs) return true;
  try {
    const owner = Number(readFileSync(lockFile, 'utf8'));
    if (owner > 0) process.kill(owner, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}
