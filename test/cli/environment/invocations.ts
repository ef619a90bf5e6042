/** A real call of a command, not only its help. */
export interface Invocation {
  readonly words: readonly string[];
  /** Standard input, where the command reads it. */
  readonly stdin?: string;
  /** How it ends on a machine where all is well; 0 by default. */
  readonly exit?: number;
  /** It runs until it is stopped: SIGTERM is sent once this is written. */
  readonly until?: RegExp;
  /** It writes to the state directory, or is useless without it. */
  readonly needsState?: true;
  /** It reads what only the state directory has: another user's is refused. */
  readonly readsState?: true;
  /** It prints a table on a terminal. */
  readonly isTable?: true;
  /** Without a token for the plant store. */
  readonly isLoggedOut?: true;
  /** Without the address of a gateway. */
  readonly isAlone?: true;
}

const password = 'correct horse battery\n';

/** One for every command; `workspace.ts` makes the files that they name. */
// biome-ignore format: a case a line
const invocations: Readonly<Record<string, Invocation>> = {
  serve: { words: ['serve', '-c', 'serve.yaml'], until: /"listening"|clients/, needsState: true },
  status: { words: ['status'], exit: 8, readsState: true, isAlone: true },
  open: { words: ['open', '--no-browser'], exit: 8, readsState: true, isAlone: true },
  stop: { words: ['stop'], exit: 8, readsState: true, isAlone: true },
  run: { words: ['run', 'claude', '-p', 'hello'] },
  env: { words: ['env', 'claude'] },
  send: { words: ['send', 'hello', '--in', 'trip', '-f', 'note.txt'], needsState: true },
  chat: { words: ['chat'], stdin: 'hello\n/usage\n' },
  embed: { words: ['embed', '-m', 'sandbox-embed', 'hello'], isTable: true },
  logs: { words: ['logs', '--conversations'], readsState: true, isTable: true },
  'logs show': { words: ['logs', 'show', 'req_1'], exit: 5, readsState: true },
  'logs search': { words: ['logs', 'search', 'fern'], readsState: true, isTable: true },
  'logs rm': { words: ['logs', 'rm', '--all'], readsState: true },
  models: { words: ['models'], isTable: true },
  usage: { words: ['usage'], readsState: true },
  key: { words: ['key'], exit: 2 },
  'key new': { words: ['key', 'new', '--project', 'shop'] },
  'key list': { words: ['key', 'list'], isTable: true },
  'key show': { words: ['key', 'show', '--yes'], exit: 5, readsState: true, isAlone: true },
  'key revoke': { words: ['key', 'revoke', 'shop-web', '--dry-run'] },
  'key hash': { words: ['key', 'hash'], stdin: 'a-key-of-the-shop-0123456789\n' },
  config: { words: ['config'], exit: 2 },
  'config check': { words: ['config', 'check'] },
  'config show': { words: ['config', 'show', '--origin'] },
  'config path': { words: ['config', 'path'] },
  'config schema': { words: ['config', 'schema'] },
  trust: { words: ['trust', '--no-input', 'wanting.yaml'], needsState: true },
  init: { words: ['init', '-c', 'new.yaml', '--no-input'] },
  doctor: { words: ['doctor', '--timeout', '10'] },
  policy: { words: ['policy'], exit: 2 },
  'policy test': { words: ['policy', 'test'] },
  'policy explain': { words: ['policy', 'explain', 'request.json', '--endpoint', 'chat'] },
  'policy replay': { words: ['policy', 'replay', 'records.jsonl'] },
  plants: { words: ['plants'], exit: 2 },
  'plants search': { words: ['plants', 'search', '--tags', 'green,leafy'], isTable: true },
  'plants get': { words: ['plants', 'get', '1'], isTable: true },
  'plants add': { words: ['plants', 'add', 'Maidenhair Fern', '--tags', 'green,shade'], isTable: true },
  'plants update': { words: ['plants', 'update', '1', '--status', 'sold'], isTable: true },
  'plants delete': { words: ['plants', 'delete', '404'], exit: 5 },
  'plants watch': { words: ['plants', 'watch'], isLoggedOut: true, exit: 4 },
  'plants login': { words: ['plants', 'login', '-u', 'rosa', '--password-stdin'], stdin: password, needsState: true },
  'plants logout': { words: ['plants', 'logout'], readsState: true, isLoggedOut: true },
  'plants whoami': { words: ['plants', 'whoami'] },
  'plants serve': { words: ['plants', 'serve', '-p', '0'], until: /docs/, needsState: true },
  'plants user': { words: ['plants', 'user'], exit: 2 },
  'plants user add': { words: ['plants', 'user', 'add', 'ivy', '--password-stdin'], stdin: password, needsState: true },
  login: { words: ['login', '-u', 'rosa', '--password-stdin'], stdin: password, needsState: true },
  logout: { words: ['logout'], readsState: true, isLoggedOut: true },
  completion: { words: ['completion', 'bash'] },
  whoami: { words: ['whoami'] },
};

/** Every command with a call of it. */
export const calls = Object.entries(invocations);
