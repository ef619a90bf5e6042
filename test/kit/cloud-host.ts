import { createHash, createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answerOf, eventsOf } from '../gateway/masking/saying.ts';
import { chunkFrame } from './amazon-stream.ts';
import { geminiAnswer, geminiEvents } from './answers.ts';
import { type HostRequest, type Script, type ScriptedHost, startHost } from './host.ts';

/** What the clouds expect at the moment; tests change it. */
export interface CloudState {
  aws: { id: string; secret: string; token: string; endsInMs: number };
  /** How far AWS' clock is ahead of this machine's. */
  clockOffMs: number;
  entra: string;
  google: string;
  /** The life of the tokens, in seconds. */
  lifeS: number;
}

export interface CloudHost extends ScriptedHost {
  readonly state: CloudState;
  /** The requests for a model, without those for credentials. */
  readonly calls: readonly HostRequest[];
  /** Answers the requests for a model whose credentials are right in its own way, until it is undefined. */
  interrupt(script: Script | undefined): void;
  /** What each cloud's chain needs to find its credentials here; Google's needs files, which are written to the folder. */
  envIn(folder: string): Readonly<Record<string, string>>;
}

/**
 * The three clouds on loopback: what gives credentials (AWS' container endpoint, Azure's managed identity, Google's token
 * endpoint) and what takes them. Signatures are checked by the documented steps and not by the package that made them.
 */
export async function startClouds(): Promise<CloudHost> {
  const state: CloudState = {
    aws: {
      id: 'AKIDEXAMPLE',
      secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
      token: 'aws-session-token-0123456789',
      endsInMs: 3_600_000,
    },
    clockOffMs: 0,
    entra: 'entra-token-0123456789',
    google: 'google-token-0123456789',
    lifeS: 3_600,
  };
  let interrupting: Script | undefined;
  const calls: HostRequest[] = [];
  const host = await startHost((response, request) => {
    const date = new Date(Date.now() + state.clockOffMs).toUTCString();
    const json = (status: number, value: unknown) =>
      response
        .writeHead(status, { 'content-type': 'application/json', date })
        .end(typeof value === 'string' ? value : JSON.stringify(value));
    const credentials = credentialsFor(request, state);
    if (credentials !== undefined) return json(200, credentials);
    calls.push(request);
    if (request.method !== 'POST') return json(404, '{}');
    const refusal = refusalOf(request, state);
    const isAccepted = refusal === undefined || refusal[0] === 400;
    if (interrupting !== undefined && isAccepted) return interrupting(response, request);
    if (refusal !== undefined) return json(...refusal);
    const answer = answerTo(request);
    if (typeof answer === 'string') return json(200, answer);
    const kind = request.target.startsWith('/model/')
      ? 'application/vnd.amazon.eventstream'
      : 'text/event-stream';
    return response.writeHead(200, { 'content-type': kind }).end(Buffer.concat(answer));
  });
  return {
    ...host,
    state,
    calls,
    interrupt: (script) => {
      interrupting = script;
    },
    envIn: (folder) => {
      const [file, tokenFile] = [join(folder, 'workload.json'), join(folder, 'subject-token')];
      const workload = {
        type: 'external_account',
        audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        token_url: `${host.url}/google/token`,
        quota_project_id: 'payer',
        credential_source: { file: tokenFile },
      };
      writeFileSync(file, JSON.stringify(workload), { mode: 0o600 });
      writeFileSync(tokenFile, 'subject-token-0123456789');
      return {
        AWS_CONTAINER_CREDENTIALS_FULL_URI: `${host.url}/aws/credentials`,
        AWS_EC2_METADATA_DISABLED: 'true',
        IDENTITY_ENDPOINT: `${host.url}/msi/token`,
        IDENTITY_HEADER: 'identity-header',
        GOOGLE_APPLICATION_CREDENTIALS: file,
        GOOGLE_CLOUD_PROJECT: 'p', // for Google's clients, which ask Google otherwise
      };
    },
  };
}

function credentialsFor({ target }: HostRequest, { aws, entra, google, lifeS }: CloudState): unknown {
  if (target === '/aws/credentials') {
    return {
      AccessKeyId: aws.id,
      SecretAccessKey: aws.secret,
      Token: aws.token,
      Expiration: new Date(Date.now() + aws.endsInMs).toISOString(),
    };
  }
  if (target.startsWith('/msi/token')) {
    const resource = new URLSearchParams(target.split('?')[1]).get('resource');
    const expires_on = String(Math.floor(Date.now() / 1_000) + lifeS);
    return { access_token: entra, expires_on, resource, token_type: 'Bearer' };
  }
  if (target !== '/google/token') return undefined;
  const issued_token_type = 'urn:ietf:params:oauth:token-type:access_token';
  return { access_token: google, issued_token_type, expires_in: lifeS, token_type: 'Bearer' };
}

type Refusal = readonly [status: number, body: unknown] | undefined;

/** Some that Claude Code sends to Anthropic, and that both clouds are known to refuse. */
const refusedFlags =
  /^(?:prompt-caching-scope|thinking-token-count|mid-conversation-system|fast-mode|oauth)-/;

/** In each vendor's own words. */
function refusalOf(request: HostRequest, state: CloudState): Refusal {
  const { target } = request;
  const body = JSON.parse(request.body.toString() || '{}') as Record<string, unknown>;
  if (target.startsWith('/model/')) return awsRefusal(request, state) ?? bedrockRefusal(body);
  const bearer = headerOf(request, 'authorization');
  if (target.includes('/projects/')) {
    const error = (code: number, status: string, message: string): Refusal => [
      code,
      { error: { code, message, status } },
    ];
    if (bearer !== `Bearer ${state.google}`)
      return error(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
    const isVersioned = /^(?:vertex-2023-10-16|2026-10-21)$/.test(String(body.anthropic_version));
    return target.includes('/publishers/anthropic/') && !isVersioned
      ? error(400, 'INVALID_ARGUMENT', 'no anthropic_version')
      : undefined;
  }
  const key = headerOf(request, 'api-key') || headerOf(request, 'x-api-key');
  if (bearer === `Bearer ${state.entra}` || key === 'azure-key-0123456789') return undefined;
  const message = 'Access denied due to invalid subscription key or wrong API endpoint.';
  return [401, { error: { code: '401', message } }];
}

function bedrockRefusal(body: Readonly<Record<string, unknown>>): Refusal {
  const flags = (body.anthropic_beta ?? []) as readonly string[];
  if (flags.some((flag) => refusedFlags.test(flag))) return [400, { message: 'invalid beta flag' }];
  const extraneous = ['model', 'stream'].find((name) => name in body);
  const isVersioned = /^(?:bedrock-2023-05-31|2026-10-21)$/.test(String(body.anthropic_version));
  if (extraneous === undefined && isVersioned) return undefined;
  return [400, { message: `extraneous key [${extraneous}] is not permitted` }];
}

/** AWS' documented check of a signature; what it answers if that fails. */
function awsRefusal(request: HostRequest, { aws, clockOffMs }: CloudState): Refusal {
  const refused = (message: string): Refusal => [403, { message }];
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headerOf(request, 'authorization'),
    );
  if (found === null) return refused('Missing Authentication Token');
  const [, id = '', day = '', region = '', service = '', names = '', signature] = found;
  if (region !== 'us-east-1' || service !== 'bedrock')
    return refused("Credential should be scoped to a valid region, not 'us-east-1'.");
  if (id !== aws.id || headerOf(request, 'x-amz-security-token') !== aws.token)
    return refused('The security token included in the request is expired');
  const time = headerOf(request, 'x-amz-date');
  const sentMs = Date.parse(time.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'));
  if (Math.abs(sentMs - (Date.now() + clockOffMs)) > 5 * 60_000)
    return refused(`Signature expired: ${time} is now earlier`);
  const [path = '', query = ''] = request.target.split('?');
  const canonical = [
    request.method,
    path.split('/').map(encode).join('/'),
    query,
    ...names.split(';').map((name) => `${name}:${headerOf(request, name).trim().replace(/\s+/g, ' ')}`),
    '',
    names,
    createHash('sha256').update(request.body).digest('hex'),
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const digest = createHash('sha256').update(canonical).digest('hex');
  const text = ['AWS4-HMAC-SHA256', time, scope, digest].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${aws.secret}`);
  return hmac(key, text).toString('hex') === signature
    ? undefined
    : refused('The request signature we calculated does not match the signature you provided.');
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function encode(segment: string): string {
  const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(segment).replace(/[!'()*]/g, percent);
}

export function headerOf({ headers }: HostRequest, name: string): string {
  return headers.find(([key]) => key === name)?.[1] ?? '';
}

/** A text is a whole answer, a list a stream. */
/** What every model says. */
const said = { text: 'Water it.' };

function answerTo({ target, body }: HostRequest): string | readonly Buffer[] {
  const buffers = (texts: readonly string[]) => texts.map((text) => Buffer.from(text));
  if (target.includes('/publishers/google/')) {
    if (target.endsWith(':countTokens')) return '{"totalTokens":3}';
    return target.includes(':streamGenerateContent') ? buffers(geminiEvents) : geminiAnswer;
  }
  if (/\/count[-_]tokens/.test(target)) return '{"input_tokens":3}';
  // At Vertex the body says it too.
  const isStream =
    target.endsWith('/invoke-with-response-stream') ||
    (JSON.parse(body.toString()) as { stream?: boolean }).stream === true;
  const named = (['chat', 'responses'] as const).find((name) => target.includes(`/${name}`));
  const dialect = named ?? 'messages';
  if (!isStream) return answerOf(dialect, said);
  const events = eventsOf(dialect, said);
  if (!target.startsWith('/model/')) return buffers(events);
  return events.map((event) => chunkFrame(JSON.parse(event.slice(event.indexOf('data: ') + 6))));
}
