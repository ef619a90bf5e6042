import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import Module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { secrets } from './gateway.ts';
import { stopAtEnd } from './started.ts';

let isThere = false;

/** Stands for Google's package, which is installed beside the gateway, to the end of a file: its token is PROVIDER_KEY. */
export function useGoogleLibrary(): void {
  if (isThere) return;
  isThere = true;
  const folder = mkdtempSync(join(tmpdir(), 'google-'));
  const library = join(folder, 'google-auth-library');
  mkdirSync(library);
  writeFileSync(
    join(library, 'index.js'),
    `exports.gcpMetadata = { resetIsAvailableCache() {} };
exports.GoogleAuth = class {
  async getClient() {
    return { credentials: {}, getAccessToken: async () => ({ token: ${JSON.stringify(secrets.PROVIDER_KEY)} }) };
  }
};`,
  );
  const before = process.env.NODE_PATH;
  lookIn(folder);
  stopAtEnd(async () => {
    isThere = false;
    lookIn(before);
  });
}

/** Node reads the variable when it starts, or where this is called. */
function lookIn(path: string | undefined): void {
  if (path === undefined) delete process.env.NODE_PATH;
  else process.env.NODE_PATH = path;
  (Module as unknown as { _initPaths(): void })._initPaths();
}
