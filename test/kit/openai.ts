import { existsSync } from 'node:fs';
import { join } from 'node:path';

const ownFolder = join(import.meta.dirname, '..', 'openai-7');
const own = join(ownFolder, 'node_modules', 'openai');

/** Where OpenAI's SDK for Node 22 is, if `npm run test:all` installed it. */
export const openAi7 = existsSync(own) ? own : undefined;

/** The newest of the installed SDKs of OpenAI. */
export const newestOpenAi = openAi7 ?? join(import.meta.dirname, '..', '..', 'node_modules', 'openai');

/** For Vite: `openai` is the SDK of that folder. */
export const withOpenAi7 = {
  name: 'with-openai-7',
  enforce: 'pre' as const,
  resolveId(
    this: { resolve(id: string, importer: string): Promise<unknown> },
    id: string,
    importer?: string,
  ) {
    const isAsked = /^openai(?=\/|$)/.test(id) && importer?.includes('/node_modules/') === false;
    return isAsked ? this.resolve(id, join(ownFolder, 'package.json')) : undefined;
  },
};
