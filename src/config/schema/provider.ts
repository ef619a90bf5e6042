import * as z from 'zod';
import { hostNames } from '../../hosts/find-host.ts';
import { about } from '../../policy/matchers/about.ts';
import { reaching } from './reach.ts';
import { duration, filePath, headerName, httpUrl, nameSchema, proxyUrl } from './scalars.ts';

const providerDialects = ['sandbox', 'anthropic', 'openai', 'gemini', 'bedrock', 'vertex'] as const;
// biome-ignore format: a list
export const endpointNames = ['messages', 'count_tokens', 'chat', 'responses', 'embeddings', 'gemini', 'gemini_embeddings'] as const;

const key = () =>
  reaching(
    'credential',
    z.string().regex(/^[\x21-\x7e]+$/, 'expected visible ASCII characters without spaces'),
  );

export const providerSchema = z.strictObject({
  dialect: reaching('nothing', z.enum(providerDialects)).register(
    ...about(
      'Wire format: anthropic (messages), openai (chat, responses, embeddings), gemini (gemini, gemini_embeddings), bedrock (Claude by InvokeModel), vertex (Claude by rawPredict) or the built-in sandbox.',
    ),
  ),
  base_url: reaching('provider', httpUrl.optional()).register(
    ...about("Where it listens; default: the dialect's own host. Requests go nowhere else."),
  ),
  host: reaching('nothing', z.enum(hostNames))
    .optional()
    .register(
      ...about(
        'Which vendor or program answers there, if its address does not show it: what it takes in requests depends on it (docs/providers.md).',
      ),
    ),
  api_key: key()
    .optional()
    .register(...about(`Its key, as \${NAME}; a host without keys needs none.`)),
  api_keys: z
    .record(nameSchema, key())
    .meta({ isListToo: true })
    .optional()
    .register(
      ...about(
        'In place of api_key several keys of your own accounts, by names, or as a list (then the names are those of the variables, in lower case): each session keeps to one of them. Connections, retries and breaker are those of each key.',
      ),
    ),
  credentials: reaching('login', z.enum(['api_key', 'client', 'azure', 'aws', 'google']))
    .default('api_key')
    .register(
      ...about(
        "What its requests carry: api_key; client: the client's own, such as the login of a subscription, which then comes beside the project key in x-gateway-key; azure (Entra ID), aws (SigV4) or google: those that the cloud's own tools find. azure and aws take an api_key too.",
      ),
    ),
  region: reaching(
    'nothing',
    z.string().regex(/^[a-z]{2}(?:-[a-z]+)+-\d$/, 'expected a region such as us-east-1'),
  )
    .optional()
    .register(
      ...about('Region of AWS that requests are signed for; default: the one in the name of the host.'),
    ),
  api_version: reaching(
    'nothing',
    z.string().regex(/^[\w.-]{1,32}$/, 'expected a version such as 2024-10-21'),
  )
    .optional()
    .register(
      ...about('The api-version of an Azure resource without /openai/v1; its base_url ends with /openai.'),
    ),
  endpoints: z
    .array(reaching('nothing', z.enum(endpointNames)))
    .min(1)
    .optional()
    .register(...about("The endpoints that this host supports; default: all of its dialect's.")),
  forward_headers: z
    .array(headerName)
    .default([])
    .register(...about('Further request headers to forward to it.')),
  ca_file: reaching('authorities', filePath.clone())
    .nullable()
    .default(null)
    .register(
      ...about(
        'PEM file of further certificate authorities to trust for it, besides those of Node and NODE_EXTRA_CA_CERTS, relative to this file.',
      ),
    ),
  proxy: proxyUrl
    .optional()
    .register(
      ...about(
        'HTTP proxy to tunnel its connections through (CONNECT), or none; an https:// one shows a certificate of its own name. Default: HTTPS_PROXY, HTTP_PROXY and NO_PROXY (names, addresses, blocks such as 10.0.0.0/8).',
      ),
    ),
  timeouts: z
    .strictObject({
      connect: duration()
        .default('5s')
        .register(...about('Longest time to connect; each address of a name gets a third of it.')),
      headers: duration()
        .default('600s')
        .register(...about('Longest wait for the head of its answer.')),
      idle: duration()
        .default('300s')
        .register(...about('Longest gap inside its answer.')),
      total: duration()
        .default('3600s')
        .register(...about('Longest time for the whole exchange.')),
      queue: duration()
        .default('10s')
        .register(...about('Longest wait for a free connection, then 503.')),
    })
    .prefault({})
    .register(...about('How long to wait for it.')),
  heartbeat: duration(1_000)
    .optional()
    .register(
      ...about(
        'Send signs of life into its streams after this much silence, also where they pass unchanged (where they do not: after 15s anyway).',
      ),
    ),
  open_after: duration(1_000)
    .optional()
    .register(
      ...about(
        'Begin the answer to a request for a stream when the provider has said nothing for so long; from then on a failure is an error event (translated streams: after 45s anyway).',
      ),
    ),
  connections: reaching('nothing', z.int().min(1).max(100_000))
    .default(512)
    .register(...about('Most connections to it at a time.')),
  retries: z
    .strictObject({
      attempts: reaching('nothing', z.int().min(1).max(10))
        .default(2)
        .register(...about('Attempts in total: 1 means no retries.')),
      budget: reaching('nothing', z.number().min(0).max(1))
        .default(0.2)
        .register(...about('Share of requests that may be retried.')),
    })
    .prefault({})
    .register(...about('Retries of requests for which the provider certainly did no work.')),
  breaker: z
    .strictObject({
      failures: reaching('nothing', z.int().min(1).max(1000))
        .default(5)
        .register(...about('Consecutive failures that open the breaker.')),
      open: duration()
        .default('30s')
        .register(...about('How long the breaker stays open.')),
    })
    .prefault({})
    .register(...about('When to stop sending requests to a failing provider.')),
});

export type ProviderSettings = z.output<typeof providerSchema>;
export type ProviderDialect = (typeof providerDialects)[number];
export type EndpointName = (typeof endpointNames)[number];
