import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import nodeModule, { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

/** Undefined for a file that Node is to compile. */
export type Compile = (path: string) => Script | undefined;

/**
 * Runs a program that was built, from its first file, with what V8 compiled of it at the build
 * (docs/decisions/bundle.md). Where that doesn't exist for this V8 and its flags, Node loads the program.
 */
export function loadProgram(entry: string): void {
  const compile = openCompiled(compiledFileOf(entry));
  if (compile !== undefined) return load(entry, compile);
  keepCompiled(dirname(entry));
  createRequire(entry)(entry);
}

/** Loads files as Node does, except that `compile` compiles those beside the first one, which name each other. */
export function load(entry: string, compile: Compile): void {
  const directory = dirname(entry);
  const requireByNode = createRequire(entry);
  const { cache } = requireByNode;
  const requireAny = (id: string): unknown => {
    if (!id.startsWith('./')) return requireByNode(id);
    const path = join(directory, id);
    const known = cache[path];
    if (known !== undefined) return known.exports;
    const script = compile(path);
    if (script === undefined) return requireByNode(path);
    const module = { id: path, filename: path, exports: {}, children: [], loaded: false };
    cache[path] = module as unknown as NodeJS.Module; // what Node's own `require` reads of one
    script.runInThisContext()(module.exports, require, module, path, directory);
    module.loaded = true;
    return module.exports;
  };
  const require = Object.assign(requireAny, requireByNode);
  require(`./${basename(entry)}`);
}

// ---------------------------------------------------------------- compiled code

const before = Buffer.from('(function (exports, require, module, __filename, __dirname) { ');
const after = Buffer.from('\n})');

/** The text of a file in the form that `load` runs. */
export function wrapped(text: Buffer): Buffer {
  return Buffer.concat([before, text, after]);
}

/** In Node 20, `import()` fails in code that was compiled before. */
export function compileFile(path: string, source: Buffer, cachedData?: Buffer): Script {
  return new Script(source.toString(), {
    filename: path,
    columnOffset: -before.length,
    ...(cachedData !== undefined && { cachedData }),
  });
}

export interface CompiledFile {
  readonly name: string;
  readonly source: Buffer;
  readonly script: Script;
}

/** What there is of a file, among that of all. */
interface Entry {
  /** Its bytes, wrapped. */
  readonly source: number;
  readonly at: number;
  readonly length: number;
  /** Of its bytes and of the compiled code. */
  readonly hash: string;
}

/**
 * V8 takes compiled code only in the version, with the flags and on the kind of processor that it was compiled with. It
 * also takes, and crashes over, what another release or build of Node with the same V8 has compiled.
 */
export function compiledFileOf(entry: string): string {
  const { version, arch, execPath } = process;
  const { size } = statSync(execPath, { throwIfNoEntry: false }) ?? { size: 0 };
  const tag = cachedDataVersionTag().toString(16);
  return join(dirname(entry), '.compiled', `${version}-${arch}-${size}-${tag}-${basename(entry, '.js')}`);
}

/** What V8 has compiled of these files by now: the length of a list of entries, the list, the code of each file. */
export function compiledCodeOf(files: readonly CompiledFile[]): Buffer {
  const codes = files.map(({ script }) => script.createCachedData());
  let at = 0;
  const entries = files.map(({ name, source }, i): readonly [string, Entry] => {
    const code = codes[i] as Buffer;
    const entry = { source: source.length, at, length: code.length, hash: hashOf(source, code) };
    at += code.length;
    return [name, entry];
  });
  const list = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32LE(list.length);
  return Buffer.concat([length, list, ...codes]);
}

const lengthBytes = 4;

/** Compiles with that code; undefined if there is none. */
function openCompiled(codeFile: string): Compile | undefined {
  try {
    const file = openSync(codeFile, 'r');
    const listLength = read(file, 0, Buffer.alloc(lengthBytes)).readUInt32LE();
    const start = lengthBytes + listLength;
    const list = read(file, lengthBytes, Buffer.alloc(listLength));
    const entries: Readonly<Record<string, Entry>> = JSON.parse(list.toString());
    const all = Object.values(entries);
    // The same memory for each: what Node would free only later.
    const sources = Buffer.alloc(Math.max(...all.map(({ source }) => source)));
    const codes = Buffer.alloc(Math.max(...all.map(({ length }) => length)));
    return (path) => {
      const entry = entries[basename(path)];
      if (entry === undefined) return undefined;
      try {
        const source = readWrapped(path, sources.subarray(0, entry.source));
        const code = read(file, start + entry.at, codes.subarray(0, entry.length));
        return hashOf(source, code) === entry.hash ? compileFile(path, source, code) : undefined;
      } catch {
        return undefined; // Node says what is wrong with the file itself
      }
    };
  } catch {
    return undefined;
  }
}

/** A file that is longer than it was differs in the last bytes. */
function readWrapped(path: string, into: Buffer): Buffer {
  const file = openSync(path, 'r');
  const length = into.length - before.length - after.length;
  const found = readSync(file, into, before.length, length + 1, 0);
  closeSync(file);
  before.copy(into);
  if (found === length) after.copy(into, before.length + length);
  return into;
}

/** Whatever is there, if the file ends before. */
function read(file: number, at: number, into: Buffer): Buffer {
  readSync(file, into, 0, into.length, at);
  return into;
}

/** V8 itself would not notice that a disk has damaged compiled code, nor that a file has other text of the same length. */
function hashOf(source: Buffer, code: Buffer): string {
  return createHash('sha256').update(source).update(code).digest('base64');
}

/**
 * From Node 22.8 on, keeps compiled code for the next command: beside the code itself, where nobody can write who can't
 * change that too, and not in another user's folder, whose owner couldn't remove the files.
 */
function keepCompiled(directory: string): void {
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (directory: string) => void };
  if (enableCompileCache === undefined) return;
  const { uid } = statSync(directory);
  if (process.getuid === undefined || uid === process.getuid())
    enableCompileCache(join(directory, '.compiled'));
}
