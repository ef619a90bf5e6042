import { basename } from 'node:path';
import { detectOf } from '../../config/build/own-policies.ts';
import { logins } from '../../config/source/logins.ts';
import { clouds } from '../../hosts/clouds.ts';
import type { DetectorName } from '../../policy/detectors/names.ts';
import { compileGlob } from '../../policy/glob.ts';
import type { FoundProvider } from './find-clouds.ts';

interface Contents {
  readonly providers: readonly FoundProvider[];
  /** Detectors whose findings are masked; none means no policy. */
  readonly masks: readonly DetectorName[];
  /** A project with a key, by its hash. */
  readonly keyed?: { readonly project: string; readonly hash: string } | undefined;
}

/** A configuration file for a person to build on. */
export function configText({ providers, masks, keyed }: Contents): string {
  const sections = [
    `# Made by "gateway init". "gateway config check" says what is wrong, "gateway doctor" looks further;
# config.example.yaml and docs/configuration.md have every setting.`,
    ...(providers.length === 0
      ? [sandbox]
      : [providerSection(providers), modelSection(providers), defaultModel(providers)]),
    ...(masks.length > 0 ? [policyOf(masks)] : []),
    keyed === undefined ? localKey : projectSection(keyed, { hasPolicy: masks.length > 0 }),
  ];
  return `${sections.join('\n\n')}\n`;
}

const sandbox = `# No key and no model server was found, so the built-in sandbox answers. Another provider looks like this:
#   anthropic: { dialect: anthropic, api_key: "\${ANTHROPIC_API_KEY}" }
providers:
  sandbox: { dialect: sandbox }

# Which provider serves which model; the first match counts.
models:
  - { match: "*", provider: sandbox }

# What "send" and "chat" use by default.
default_model: sandbox-mini`;

function policyOf(masks: readonly DetectorName[]): string {
  const detect = detectOf(masks).map((each) =>
    typeof each === 'string' ? each : `{ secrets: ${each.secrets} }`,
  );
  return `# What may leave. docs/policy.md has the other conditions, "gateway policy test" tries them.
policies:
  house:
    apply: all
    rules:
      - id: secrets
        action: mask               # leaves as a placeholder, is back in the answer; redact takes it away, block refuses
        when: { text: { detect: [${detect.join(', ')}] } }
        reason: content.secret
        # Nothing is stored, so previous_response_id and the like are refused: send the whole conversation, as agents do.`;
}

const localKey = `# Without projects the gateway makes one key for this user ("gateway key show"). To have several:
# projects:
#   shop: { keys: [] }             # gateway key new --project shop`;

function providerSection(providers: readonly FoundProvider[]): string {
  const entries = providers.map(
    ({ name, dialect, baseUrl, variable, credentials, takesLogin, endpoints, note }) =>
      [
        `  # ${note}`,
        `  ${name}:`,
        `    dialect: ${dialect}`,
        ...(baseUrl === undefined ? [] : [`    base_url: ${JSON.stringify(baseUrl)}`]),
        ...(variable === undefined
          ? []
          : [`    api_key: "\${${variable}}"    # read when the gateway starts`]),
        ...(credentials === undefined ? [] : [`    credentials: ${credentials}`]),
        ...(takesLogin === true ? ['    credentials: client    # the login that came with the request'] : []),
        ...(endpoints === undefined
          ? []
          : [
              `    endpoints: [${endpoints.join(', ')}]${takesLogin === true ? '' : '    # the rest is translated'}`,
            ]),
      ].join('\n'),
  );
  return `providers:\n${entries.join('\n')}`;
}

/** The last local server gets every model that no other line matches, so that a model pulled later is served at once. */
function modelSection(providers: readonly FoundProvider[]): string {
  const rest = providers.findLast(isLocal);
  const lines = servedMatches(providers.filter((provider) => provider !== rest)).map(
    ({ match, provider, model }) =>
      `  - { match: ${JSON.stringify(match)}, provider: ${provider}${model === undefined ? '' : `, model: ${JSON.stringify(model)}`} }`,
  );
  const last =
    rest === undefined ? [] : [`  - { match: "*", provider: ${rest.name} }    # whatever else is asked for`];
  return [
    '# Which provider serves which model; the first match counts.',
    'models:',
    ...lines,
    ...agentLines(providers, rest),
    ...last,
  ].join('\n');
}

interface WrittenEntry {
  readonly match: string;
  readonly provider: string;
  readonly model?: string;
}

/** Which of them serves which names; where two serve the same, the first does. */
function servedMatches(providers: readonly FoundProvider[]): readonly WrittenEntry[] {
  const own = providers.flatMap(({ name, models }) =>
    models.map((match): WrittenEntry => ({ match, provider: name })),
  );
  const agents = providers.flatMap(({ name, agentModels }): WrittenEntry[] =>
    agentModels === undefined ? [] : [{ ...agentModels, provider: name }],
  );
  const all = [...own, ...agents];
  return all.filter(({ match }, i) => all.findIndex((each) => each.match === match) === i);
}

/** What coding agents ask for by themselves that no chosen provider has, and the local model that stands for it. */
function substitutes(providers: readonly FoundProvider[]) {
  const served = servedMatches(providers).map(({ match }) => match);
  const missing = Object.values(logins)
    .flatMap(({ match }): readonly string[] => match)
    .filter((match) => !served.includes(match));
  const chosen = conversationModel(providers);
  return chosen === undefined || missing.length === 0 ? undefined : { ...chosen, missing };
}

/** Names that coding agents ask for and no provider has go to a model that is here, behind this server's own such names. */
function agentLines(providers: readonly FoundProvider[], rest: FoundProvider | undefined): readonly string[] {
  const found = substitutes(providers);
  if (rest === undefined || found === undefined) return [];
  const { missing, provider, model } = found;
  const own = rest.models.filter((name) => missing.some((match) => compileGlob(match)(name)));
  return [
    ...own.map((name) => `  - { match: ${JSON.stringify(name)}, provider: ${rest.name} }`),
    '  # Coding agents ask for these by themselves, and no key or login here serves them, so a model of this machine',
    '  # stands for them; "gateway run -m MODEL AGENT" names another.',
    ...missing.map(
      (match) => `  - { match: "${match}", provider: ${provider}, model: ${JSON.stringify(model)} }`,
    ),
  ];
}

/** A model of this machine that can hold a conversation, as far as its name shows. */
function conversationModel(providers: readonly FoundProvider[]) {
  const local = providers
    .filter(isLocal)
    .flatMap(({ name, models }) => models.map((model) => ({ provider: name, model })));
  return local.find(({ model }) => !/embed|minilm|bge-|rerank|whisper/i.test(model));
}

function isLocal({ variable, credentials, takesLogin }: FoundProvider): boolean {
  return variable === undefined && credentials === undefined && takesLogin === undefined;
}

function defaultModel(providers: readonly FoundProvider[]): string {
  const known = conversationModel(providers)?.model;
  const line = known === undefined ? '# default_model: NAME' : `default_model: ${JSON.stringify(known)}`;
  return `# What "send" and "chat" use by default, and agents whose own models nobody serves.\n${line}`;
}

function projectSection(
  { project, hash }: { readonly project: string; readonly hash: string },
  { hasPolicy }: { readonly hasPolicy: boolean },
): string {
  const models = hasPolicy ? '' : '\n    # Without a policy its keys may send anything.';
  return `projects:
  ${JSON.stringify(project)}:${models}
    keys:
      - { id: ${JSON.stringify(`${project}-first`)}, hash: "${hash}" }`;
}

/** A file that `init` wrote. */
interface Written {
  readonly file: string;
  readonly text: string;
  readonly chosen: readonly FoundProvider[];
  /** Whether a project's key was made. */
  readonly hasKey: boolean;
}

/** What a person does next. */
export function nextSteps({ file, text, chosen, hasKey }: Written): string {
  const missing = chosen.flatMap(({ variable, isFound }) =>
    isFound || variable === undefined ? [] : [variable],
  );
  const packages = chosen.flatMap(({ credentials, variable }) =>
    credentials === undefined || variable !== undefined ? [] : [clouds[credentials].install],
  );
  const dashC = basename(file) === 'gateway.yaml' ? '' : ` -c ${file}`;
  const stand = substitutes(chosen);
  return [
    ...(stand === undefined
      ? []
      : [`note      ${stand.missing.join(', ')} go to ${stand.model}: no key or login for them`]),
    ...(missing.length === 0 ? [] : [`set       ${missing.join(', ')}`]),
    ...(packages.length === 0
      ? []
      : [
          `install   npm install ${[...new Set(packages)].join(' ')} (with -g if the gateway was installed so)`,
        ]),
    ...(hasKey ? ['keep      the key: the file has only its hash'] : []),
    `check     gateway doctor${dashC}`,
    `start     gateway serve${dashC}`,
    ...(/^default_model:/m.test(text)
      ? []
      : ['choose    a default_model in the file: "gateway models" lists them once it runs']),
  ]
    .map((line) => `${line}\n`)
    .join('');
}
