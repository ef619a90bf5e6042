import { readFile } from 'node:fs/promises';
import { GatewayError } from '../../errors.ts';

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
}

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  woff2: 'font/woff2',
};
const assetName = /^[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9_-]+)*\.(?:js|css|svg|png|woff2)$/;

// When run from source (in tests) this serves the built page.
const ownDirectory = import.meta.url.endsWith('.ts') ? '../../../dist/page/' : './page/';

/** The page's files, each read on first request. */
export class PageFiles {
  readonly #directory: URL;
  readonly #files = new Map<string, Promise<PageFile>>();

  constructor(directory: URL = new URL(ownDirectory, import.meta.url)) {
    this.#directory = directory;
  }

  page(): Promise<PageFile> {
    return this.#file('index.html', 'text/html; charset=utf-8');
  }

  /** Throws inspector.unknown for anything that is not a file of the page. */
  asset(name: string): Promise<PageFile> {
    if (!assetName.test(name)) throw unknown(name);
    return this.#file(`assets/${name}`, types[name.slice(name.lastIndexOf('.') + 1)] as string);
  }

  #file(path: string, type: string): Promise<PageFile> {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const file = readFile(new URL(path, this.#directory)).then(
      (bytes) => ({ type, bytes }),
      (cause) => {
        this.#files.delete(path);
        throw unknown(path, cause);
      },
    );
    this.#files.set(path, file);
    return file;
  }
}

function unknown(name: string, cause?: unknown): GatewayError {
  return new GatewayError('inspector.unknown', `the page has no file ${name.slice(0, 100)}`, { cause });
}
