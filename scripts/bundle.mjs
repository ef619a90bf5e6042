// What dist/ is made of: one bundle, cut where commands are loaded lazily (docs/decisions/bundle.md).
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';
import { buildInspectorPage } from './inspector-page.mjs';
import { packageFoldersOf, thirdPartyNotice } from './third-party-notice.mjs';

const root = join(import.meta.dirname, '..');
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

// Parts of packages that nothing here reaches, each by who asks for what: parsing and running them costs every start.
const unused = [
  ['commander', /^node:child_process$/], // commands that are programs of their own
  ['pino', /^(?:thread-stream|sonic-boom|@pinojs\/redact)$/], // transports, files, redaction: streams of our own are written
  ['undici', /^\.\.\/web\/fetch\//], // bodies of forms
  ['undici', /^\.\/client-h2\.js$/], // HTTP/2, which is off; it would load node:http2
];
const withoutUnused = {
  name: 'without-unused',
  resolveId(id, importer) {
    const isUnused = unused.some(([by, part]) => part.test(id) && importer?.includes(`/node_modules/${by}/`));
    return isUnused ? `\0unused:${id}` : undefined;
  },
  load: (id) => (id.startsWith('\0unused:') ? 'module.exports = class {};' : undefined),
};

// What not every start needs: files of their own, read when something of them is first used.
const deferred = {
  chalk: 'chalk',
  pino: 'pino',
  re2js: 're2js',
  yaml: 'yaml',
  'bip39-words': '@scure/bip39/wordlists/english.js',
  'base-encodings': '@scure/base',
  sha3: '@noble/hashes/sha3.js',
  detectors: join(root, 'src/policy/detectors/registry.ts'),
  // For the first request that is translated; for the first that goes to a provider.
  translate: join(root, 'src/dialects/translate.ts'),
  ...Object.fromEntries(
    ['chat', 'gemini', 'messages', 'responses'].map((dialect) => [
      `${dialect}-codec`,
      join(root, `src/dialects/${dialect}/codec.ts`),
    ]),
  ),
  // With a package of ES modules, which only `import()` loads: files without it can be compiled at the build.
  ask: join(root, 'src/cli/shell/ask.ts'),
  'open-pool': join(root, 'src/providers/transport/open-pool.ts'), // with undici and TLS
};
const loadedWhenUsed = {
  name: 'loaded-when-used',
  resolveId(id, importer) {
    if (importer === undefined) return undefined; // the file itself
    if (importer.startsWith('\0deferred:')) return { id, external: true };
    if (importer.includes('/node_modules/ora/')) return undefined; // itself read when a spinner is shown
    const wanted = id.startsWith('.') ? join(dirname(importer), id) : id;
    const file = Object.keys(deferred).find((key) => deferred[key] === wanted);
    return file === undefined ? undefined : `\0deferred:${file}`;
  },
  async load(id) {
    if (!id.startsWith('\0deferred:')) return undefined;
    const file = id.slice('\0deferred:'.length);
    const names = await exportsOf(deferred[file]);
    return `let loaded;
      const load = () => (loaded ??= require('./${file}.js'));
      for (const name of ${JSON.stringify(names)})
        Object.defineProperty(exports, name, { enumerable: true, get: () => load()[name] });`;
  },
};

/** Names of what a module exports. Node 20 can't import TypeScript. */
async function exportsOf(module) {
  if (!module.endsWith('.ts')) return Object.keys(await import(module));
  const lines = readFileSync(module, 'utf8').match(/^export (?!type |interface ).+/gm) ?? [];
  return lines.map((line) => {
    const [, name] = /^export (?:const|class|(?:async )?function) (\w+)/.exec(line) ?? [];
    if (name === undefined) throw new Error(`not read later whole, ${module}: ${line}`);
    return name;
  });
}

// What packages themselves require only when they need it, by whom: files of their own too.
const requiredLater = [
  ['cosmiconfig/dist', 'import-fresh', 'import-fresh'], // loaders: files are only searched for
  ['cosmiconfig/dist', 'js-yaml', 'cosmiconfig-yaml'],
  ['cosmiconfig/dist', 'parse-json', 'parse-json'],
  ['undici/lib/dispatcher', '../llhttp/llhttp-wasm.js', 'llhttp'], // for machines whose WebAssembly has no SIMD
].map(([by, id, name]) => ({ by: `/node_modules/${by}/`, id, name }));
const requiredFromFiles = {
  name: 'required-from-files',
  resolveId(wanted, importer) {
    const found = requiredLater.find(({ by, id }) => id === wanted && importer?.includes(by));
    return found && { id: `./${found.name}.js`, external: true };
  },
};

// undici's entry loads fetch, WebSocket and caches as well, three quarters of its code, and sets a global dispatcher.
const undiciParts = {
  name: 'undici-parts',
  resolveId: (id) => (id === 'undici' ? '\0undici' : undefined),
  load: (id) =>
    id === '\0undici'
      ? `require('${join(root, 'node_modules/undici/lib/dispatcher/dispatcher.js')}').prototype.connect =
           require('${join(root, 'node_modules/undici/lib/api/api-connect.js')}');
         exports.Client = require('${join(root, 'node_modules/undici/lib/dispatcher/client.js')}');
         exports.Pool = require('${join(root, 'node_modules/undici/lib/dispatcher/pool.js')}');`
      : undefined,
};

// Commander as ES modules: its CommonJS would be parsed twice, and makes a program that nobody here uses.
const commanderAsModules = {
  name: 'commander-as-modules',
  transform(code, id) {
    if (!id.includes('/node_modules/commander/')) return undefined;
    const module = code
      .replace(/^const (\{.+\}) = require\((.+)\);$/gm, 'import $1 from $2;')
      .replace(/^const (\w+) = require\((.+)\)\.\1;$/gm, 'import { $1 } from $2;')
      .replace(/^const process = require\('node:process'\);$/gm, '')
      .replace(/^const (\w+) = require\((.+)\);$/gm, 'import $1 from $2;')
      .replace(/^exports\.program = .+$/gm, '')
      .replace(/^exports\.(\w+) = (\w+);/gm, 'export { $2 as $1 };')
      .replace(/^exports\.(\w+) =/gm, 'export const $1 =');
    if (/^[^*\n]*(?:\brequire\(|\bexports\b)/m.test(module)) throw new Error(`not rewritten whole: ${id}`);
    return module;
  },
};

// OpenTelemetry's packages offer Node their CommonJS, of which nothing can be left out: three times the text.
const openTelemetryAsModules = {
  name: 'open-telemetry-as-modules',
  resolveId(id) {
    if (!/^@opentelemetry\/[a-z-]+$/.test(id)) return undefined;
    const entries = ['build/esm/index.js', 'build/esm/index-shim.js', 'dist/index.mjs'];
    return entries.map((file) => join(root, 'node_modules', id, file)).find(existsSync);
  },
};

/**
 * The text of a file in which the arrow functions around CommonJS modules are `function`s in parentheses. V8 in Node 20
 * parses those once, when it compiles the file, but arrow functions again when they are called.
 */
function withModulesParsedOnce(code) {
  if (!code.includes('__commonJSMin(')) return code;
  const edits = [];
  for (const statement of parseAst(code).body) {
    for (const { init } of statement.declarations ?? []) {
      const [wrapper] = init?.type === 'CallExpression' ? init.arguments : [];
      const callee = init?.callee?.property ?? init?.callee;
      if (callee?.name !== '__commonJSMin' || wrapper?.type !== 'ArrowFunctionExpression') continue;
      const parameters = wrapper.params.map(({ name }) => name).join(',');
      edits.push({ at: wrapper.start, until: wrapper.body.start, text: `(function(${parameters})` });
      edits.push({ at: wrapper.end, until: wrapper.end, text: ')' });
    }
  }
  return edits.reduceRight(
    (text, { at, until, text: by }) => text.slice(0, at) + by + text.slice(until),
    code,
  );
}

/**
 * Files of the bundle that begins with these; `groups` are modules that share a file. `prefix` tells the files of this
 * bundle from those that others make of the same modules.
 */
async function bundle(input, id, { groups = [], prefix = '' } = {}) {
  const built = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    // cosmiconfig would read TypeScript with the last one.
    external: [...Object.keys(dependencies), 'typescript'],
    resolve: {
      alias: {
        commander: join(root, 'node_modules/commander/index.js'),
        // yaml's build for Node is CommonJS, of which nothing can be left out.
        yaml: join(root, 'node_modules/yaml/browser/index.js'),
      },
    },
    plugins: [
      withoutUnused,
      loadedWhenUsed,
      requiredFromFiles,
      undiciParts,
      commanderAsModules,
      openTelemetryAsModules,
    ],
    logLevel: 'silent',
  });
  const { output } = await built.generate({
    // Node's loader for ES modules takes 10 ms more.
    format: 'cjs',
    banner: "'use strict';",
    // A third of the text to parse at every start. Functions and classes keep their names, for stack traces.
    minify: { compress: true, mangle: { keepNames: true }, codegen: true },
    minifyInternalExports: false,
    codeSplitting: { groups },
    entryFileNames: `[name]-${id}.js`,
    chunkFileNames: `${prefix}[name]-${id}.js`,
  });
  await built.close();
  return output;
}

// Threads and processes of their own begin with a file each.
const workers = {
  'decide-thread': 'src/gateway/decision/decide-thread.ts',
  'serve-worker': 'src/server/workers/serve-worker.ts',
  'jq-thread': 'src/cli/shell/filter/jq-thread.ts',
  'page-thread': 'src/inspector/tasks/page-thread.ts',
};
const program = {
  program: 'src/main.ts',
  ...workers,
  ...deferred,
  ...Object.fromEntries(
    requiredLater.map(({ by, id, name }) => [name, createRequire(join(root, by)).resolve(id)]),
  ),
};
// These run at every start and need little of the program: bundled with it, they would load the file for `send`.
const small = {
  'load-program': 'src/load-program.ts',
  'ledger-thread': 'src/record/ledger/ledger-thread.ts',
  'plant-store': 'src/plants/process/plant-store.ts',
};
const startedFromSources = [...Object.keys(workers), 'ledger-thread', 'plant-store'];
// One file for what is always loaded together, with what that imports: each further one takes most of a millisecond.
const groups = [
  { name: 'send', test: /\/src\/cli\/(?:program|send)\.ts$/ },
  // Options that name detectors don't wait for the policies.
  { name: 'detector-names', test: /\/src\/policy\/detectors\/names\.ts$/ },
  { name: 'policies', test: /\/src\/policy\/compile\.ts$/ },
  {
    name: 'configuration',
    test: /\/src\/(?:config\/(?:load|successor)|cli\/(?:shell\/consent|serve\/kept-secrets))\.ts$/,
  },
];

/**
 * The files of dist/, a map of names to contents, and the folders of the packages that are inside. All programs but
 * `main.js` have the build's id in their names and load only files with the same one, so that those of several builds
 * can lie beside each other.
 */
export async function bundleFiles(id) {
  const bundles = [
    bundle(program, id, { groups }),
    ...Object.entries(small).map(([name, file]) => bundle({ [name]: file }, id, { prefix: `${name}-` })),
  ];
  const output = (await Promise.all(bundles)).flat();
  const files = new Map(
    output.map(({ fileName, code }) => [fileName, withIdOfBuild(withModulesParsedOnce(code), id)]),
  );
  if (files.size < output.length) throw new Error('two files of the bundles have one name');
  files.set('main.js', mainOf(id));
  // For unbundled sources, which the tests run.
  for (const name of startedFromSources)
    files.set(`${name}.js`, `'use strict';require('./${name}-${id}.js');\n`);
  files.set('package.json', '{ "type": "commonjs" }\n');
  // The page of the plant store's API, as browsers are sent it.
  const swagger = join(root, 'vendor/swagger-ui');
  for (const name of ['swagger-ui-bundle.js.gz', 'swagger-ui.css.gz', 'swagger-ui-NOTICE.txt'])
    files.set(name, readFileSync(join(swagger, name)));
  const page = await buildInspectorPage(root);
  for (const [name, content] of page.files) files.set(name, content);
  const packages = packageFoldersOf([...output.flatMap(({ moduleIds }) => moduleIds), ...page.moduleIds]);
  files.set('THIRD-PARTY.txt', thirdPartyNotice([...packages, swagger]));
  return { files, packages };
}

/** The file that the command runs. */
function mainOf(id) {
  return `'use strict';require('./load-program-${id}.js').loadProgram(\`\${__dirname}/program-${id}.js\`);\n`;
}

/** What is required or started by a name that is written in the source is the file of the same build. */
function withIdOfBuild(code, id) {
  const names = [...Object.keys(program), ...Object.keys(small)];
  return code.replace(new RegExp(`(["'\`])\\./(${names.join('|')})\\.js\\1`, 'g'), `$1./$2-${id}.js$1`);
}
