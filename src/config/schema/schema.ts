import * as z from 'zod';
import { standardPlantsUrl } from '../../lib/loopback.ts';
import { about } from '../../policy/matchers/about.ts';
import { checkUrl } from '../../policy/matchers/check.ts';
import { policySchema, routeConditionsSchema } from '../../policy/rules/schema.ts';
import { targetChanges } from './parameters.ts';
import { providerSchema } from './provider.ts';
import { reaching } from './reach.ts';
import {
  amount,
  filePath,
  hostName,
  httpUrl,
  isOthersHome,
  modelGlob,
  modelName,
  nameSchema,
  ownHomeOnly,
  port,
  price,
  stateUrl,
} from './scalars.ts';
import { limitsSchema, recordsSchema, serverSchema } from './sections.ts';
import { parseExpiry } from './units.ts';

// What a file may say, with every default: the one place for both. Types, the editors' JSON Schema and
// docs/configuration.md are made from it. Durations and sizes stay as written here, so that
// `config show` prints what a file would say; `config/build/` turns them into numbers.

// Conditions are of `policy/`, which knows nothing of files; of all of them only this one reaches anything.
reaching('checker', checkUrl);

const modelSchema = z.strictObject({
  match: modelGlob.describe('Name or pattern of the models this entry is for; the first match wins.'),
  when: reaching('nothing', routeConditionsSchema.clone())
    .optional()
    .register(
      ...about('It serves a request only if all of these conditions hold, which are those of rules.'),
    ),
  unless: reaching('nothing', routeConditionsSchema.clone())
    .optional()
    .register(...about('It does not serve a request for which all of these conditions hold.')),
  provider: nameSchema.optional().register(...about('The provider that serves them.')),
  model: modelName.optional().register(...about('The name there; the requested one when absent.')),
  ...targetChanges,
  targets: z
    .array(
      z.strictObject({
        provider: nameSchema.describe('A provider that serves them.'),
        model: modelName.optional().register(...about('The name there; the requested one when absent.')),
        weight: reaching('nothing', z.number().positive().max(1_000_000))
          .default(1)
          .register(...about('Its share of the sessions, in proportion to the other weights.')),
        ...targetChanges,
      }),
    )
    .min(1)
    .optional()
    .register(...about('In place of provider and model several, among which each session keeps to one.')),
  fallbacks: z
    .array(
      z.strictObject({
        provider: nameSchema.describe('The provider that serves them instead.'),
        model: modelName.optional().register(...about('The name there; the requested one when absent.')),
        ...targetChanges,
      }),
    )
    .default([])
    .register(...about('Tried in order if the provider fails before the first byte.')),
  context_window: amount
    .optional()
    .register(
      ...about(
        'Tokens of input and output together, for model discovery and for agents that `run -m` starts; reserved by limits for what a request names and does not contain; default: what is known of the model.',
      ),
    ),
  max_output_tokens: amount
    .optional()
    .register(
      ...about(
        'Most tokens of output: for model discovery, and reserved by budgets where the client sets no cap. Fallbacks to other models may write more.',
      ),
    ),
  prompt_cache: reaching('nothing', z.enum(['auto', 'off']))
    .default('auto')
    .register(
      ...about(
        'auto: bodies that the gateway builds for Claude mark what their host is to cache; off: only where the client says so.',
      ),
    ),
  unsupported_content: reaching('nothing', z.enum(['note', 'refuse']))
    .default('note')
    .register(
      ...about(
        'What becomes of pictures, documents and tools that a provider of another dialect cannot take: note: a sentence in their place; refuse: 400.',
      ),
    ),
  pricing: z
    .strictObject({
      input: price.describe('Input.'),
      output: price.describe('Output.'),
      cache_read: price.optional().register(...about('Input read from the cache; default: as input.')),
      cache_write: price.optional().register(...about('Input written to the cache; default: as input.')),
      cache_write_1h: price
        .optional()
        .register(
          ...about('Input written to the cache for an hour (OpenAI: twelve); default: as cache_write.'),
        ),
    })
    .optional()
    .register(
      ...about('US$ per million tokens; not for fallbacks to another model whose price is built in.'),
    ),
});

const keyHash = reaching(
  'nothing',
  z
    .string()
    .regex(
      /^sha256:[0-9a-f]{64}$/,
      'expected sha256: and 64 hexadecimal digits, as `gateway key hash` prints them',
    ),
);

const expiry = reaching(
  'nothing',
  z
    .string()
    .refine(
      (text) => parseExpiry(text) !== undefined,
      'expected a date such as 2027-06-30, or a time such as 2027-06-30T12:00:00Z',
    ),
);

const keySchema = z.strictObject({
  id: nameSchema.describe("The key's name in logs and records."),
  hash: keyHash
    .optional()
    .register(...about('SHA-256 of the key, from `gateway key new` or `gateway key hash`.')),
  value: reaching(
    'nothing',
    z.string().regex(/^[\x21-\x7e]{16,512}$/, 'expected a key of at least 16 visible characters'),
  )
    .optional()
    .register(...about(`The key itself, only as \${NAME}.`)),
  file: reaching('key file', filePath.clone())
    .optional()
    .register(...about('File that contains the key, relative to this file.')),
  expires: expiry
    .optional()
    .register(...about('When it expires: an RFC 3339 time, or a date, at whose end in UTC it expires.')),
  previous: z
    .array(
      z.strictObject({
        hash: keyHash.clone().register(...about('SHA-256 of the replaced key.')),
        expires: expiry.clone().register(...about('Until when it is accepted, as above.')),
      }),
    )
    .default([])
    .register(
      ...about(
        'Keys that `gateway key rotate` replaced: the same key to limits and the ledger, for a while.',
      ),
    ),
  policies: z
    .array(nameSchema)
    .default([])
    .register(...about('Policies that apply to this key too.')),
  limits: limitsSchema
    .optional()
    .register(...about("How much this key may use, within its project's limits.")),
});

const projectSchema = z.strictObject({
  policies: z
    .array(nameSchema)
    .default([])
    .register(...about('Policies that apply, in addition to those for all.')),
  models: z
    .array(modelGlob)
    .min(1)
    .optional()
    .register(...about('Names and patterns of the models it may use; default: all.')),
  limits: limitsSchema.optional().register(...about('How much all of its keys together may use.')),
  keys: z
    .array(keySchema)
    .default([])
    .register(...about('Its keys; each has an id and one of hash, value and file.')),
});

/** The whole configuration. `providers`, `models` and `projects` that are absent become sandbox mode. */
export const settingsSchema = z.strictObject({
  server: serverSchema.prefault({}).register(...about('Where the gateway listens.')),
  providers: z
    .record(nameSchema, providerSchema)
    .optional()
    .register(...about('The providers that serve models; default: the sandbox.')),
  models: z
    .array(modelSchema)
    .optional()
    .register(...about('The model names, and which providers serve them.')),
  default_model: modelName
    .optional()
    .register(...about('The model that `send` and `chat` use by default; sandbox-mini in sandbox mode.')),
  agent_models: z
    .strictObject({
      main: modelName
        .optional()
        .register(...about("What an agent asks for; default: the agent's own model.")),
      small: modelName.optional().register(...about('For small tasks, such as titles; default: as main.')),
      thinking: modelName.optional().register(...about('For planning; default: as main.')),
    })
    .prefault({})
    .register(...about('The models that `run` and `env` have coding agents ask for.')),
  policies: reaching('nothing', z.record(nameSchema, policySchema))
    .default({})
    .register(...about('What requests may do; two sample rules in sandbox mode.')),
  masking: z
    .strictObject({
      secret: reaching(
        'mask secret',
        z
          .string()
          .min(32, 'a secret of at least 32 characters, such as `openssl rand -base64 32` prints')
          .nullable(),
      )
        .default(null)
        .register(
          ...about(
            'What placeholders are made with: gateways with the same secret make the same ones; null: one that this installation keeps.',
          ),
        ),
    })
    .prefault({})
    .register(...about('Placeholders, for rules that mask.')),
  projects: z
    .record(nameSchema, projectSchema)
    .optional()
    .register(...about('Who may call; default: one project named local, whose key is made at start-up.')),
  state: reaching('counters', stateUrl)
    .default('memory')
    .register(
      ...about('Where limits and budgets are counted: here, or in a Redis that many gateways share.'),
    ),
  on_state_failure: reaching('nothing', z.enum(['refuse', 'local']))
    .optional()
    .register(
      ...about(
        'While Redis is unreachable: refuse, or count here against a share of the limits; default: budgets refuse, rates are counted here.',
      ),
    ),
  records: recordsSchema.prefault({}).register(...about('What is written about each exchange.')),
  metrics: z
    .strictObject({
      port: port
        .nullable()
        .default(null)
        .register(...about('Port on which Prometheus scrapes /metrics; null: none.')),
      host: reaching('listener', hostName.default('127.0.0.1')).register(
        ...about(
          'Address to listen on; keep loopback unless Prometheus runs elsewhere: metrics need no key.',
        ),
      ),
    })
    .prefault({})
    .register(...about('Metrics.')),
  inspector: z
    .strictObject({
      enabled: reaching('nothing', z.boolean())
        .nullable()
        .default(null)
        .register(...about('Serve it; null: where `server.host` is a loopback address.')),
      password_file: reaching('key file', filePath.clone())
        .nullable()
        .default(null)
        .register(
          ...about(
            'A file with a password of at least 16 visible characters, without which the page is served on loopback addresses only.',
          ),
        ),
    })
    .prefault({})
    .register(...about('The live page, which shows exchanges.')),
  plants: z
    .strictObject({
      base_url: reaching('store', httpUrl.default(standardPlantsUrl)).register(
        ...about('Where commands find the plant store.'),
      ),
      store: z
        .strictObject({
          enabled: reaching('nothing', z.boolean())
            .default(true)
            .register(...about('Start it with `gateway serve`.')),
          host: reaching('listener', hostName.default('127.0.0.1')).register(
            ...about('Address to listen on.'),
          ),
          port: port.default(4101).register(...about('Port to listen on; 0 takes any free one.')),
          database: reaching(
            'store database',
            z
              .string()
              .regex(/^sqlite:.+$|^postgres(?:ql)?:\/\/\S+$/, 'expected sqlite:FILE or postgres://…')
              .refine((text) => !isOthersHome(text.replace(/^sqlite:/, '')), ownHomeOnly),
          )
            .nullable()
            .default(null)
            .register(
              ...about(
                'sqlite:FILE, relative to this file, or postgres://…; null: SQLite in the state directory.',
              ),
            ),
        })
        .prefault({})
        .register(...about('The plant store of this machine.')),
    })
    .prefault({})
    .register(...about('The plant store.')),
});

export type Settings = z.output<typeof settingsSchema>;
export type ModelSettings = z.output<typeof modelSchema>;
export type KeySettings = z.output<typeof keySchema>;

/** The settings as they may be shown and hashed: keys and passwords are replaced by `***`. */
export function withoutSecrets(settings: Settings): Settings {
  return {
    ...settings,
    state: withoutPassword(settings.state),
    records: { ...settings.records, ledger_database: maskNullable(settings.records.ledger_database) },
    plants: {
      ...settings.plants,
      store: { ...settings.plants.store, database: maskNullable(settings.plants.store.database) },
    },
    providers: mapValues(settings.providers ?? {}, (provider) => ({
      ...provider,
      ...(provider.api_key !== undefined && { api_key: '***' }),
      ...(provider.api_keys !== undefined && { api_keys: mapValues(provider.api_keys, () => '***') }),
      ...(provider.proxy !== undefined && { proxy: withoutPassword(provider.proxy) }),
    })),
    masking: { secret: settings.masking.secret === null ? null : '***' },
    projects: mapValues(settings.projects ?? {}, (project) => ({
      ...project,
      keys: project.keys.map((key) => (key.value === undefined ? key : { ...key, value: '***' })),
    })),
  };
}

function maskNullable(url: string | null): string | null {
  return url === null ? null : withoutPassword(url);
}

function withoutPassword(url: string): string {
  return url.replace(/:\/\/[^/]*@/, '://***@');
}

export function mapValues<V>(
  record: Readonly<Record<string, V>>,
  change: (value: V) => V,
): Record<string, V> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
