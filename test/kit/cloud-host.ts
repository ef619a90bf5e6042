import { createHash, createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answerOf, eventsOf, type Said } from '../gateway/masking/saying.ts';
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
  /** What a model says to a request. */
  say: (body: Buffer) => Said;
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
    say: () => ({ text: 'Water it.' }),
  };
  let interrupting: Script | undefined;
  const calls: HostRequest[] = [];
  const host = await startHost((response, request) => {
    const json = (status: number, value: unknown, headers = {}) =>
      response
        .writeHead(status, {
          'content-type': 'application/json',
          date: new Date(Date.now() + state.clockOffMs).toUTCString(),
          ...headers,
        })
        .end(typeof value === 'string' ? value : JSON.stringify(value));
    const credentials = credentialsFor(request, state);
    if (credentials !== undefined) return json(200, credentials);
    calls.push(request);
    if (request.method !== 'POST') return json(404, '{}');
    const refusal = refusalOf(request, state);
    const isAccepted = refusal === undefined || refusal.status === 400;
    if (interrupting !== undefined && isAccepted) return interrupting(response, request);
    if (refusal !== undefined) return json(refusal.status, refusal.body);
    const { kind, stream } = answerTo(request, state);
    if (typeof stream === 'string') return json(200, stream);
    response.writeHead(200, { 'content-type': kind });
    return response.end(Buffer.concat(stream));
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

interface Refusal {
  readonly status: number;
  readonly body: unknown;
}

/** Some that Claude Code sends to Anthropic, and that both clouds are known to refuse. */
const refusedFlags =
  /^(?:prompt-caching-scope|thinking-token-count|mid-conversation-system|fast-mode|oauth)-/;

/** In each vendor's own words. */
function refusalOf(request: HostRequest, state: CloudState): Refusal | undefined {
  const { target } = request;
  const bearer = headerOf(request, 'authorization');
  const key = headerOf(request, 'api-key') || headerOf(request, 'x-api-key');
  const body = JSON.parse(request.body.toString() || '{}') as Record<string, unknown>;
  if (target.startsWith('/model/')) {
    const message = awsRefusal(request, state);
    if (message !== undefined) return { status: 403, body: { message } };
    const flags = (body.anthropic_beta ?? []) as readonly string[];
    if (flags.some((flag) => refusedFlags.test(flag)))
      return { status: 400, body: { message: 'invalid beta flag' } };
    const extraneous = ['model', 'stream'].find((name) => name in body);
    if (
      extraneous !== undefined ||
      !/^(?:bedrock-2023-05-31|2026-10-21)$/.test(String(body.anthropic_version))
    )
      return { status: 400, body: { message: `extraneous key [${extraneous}] is not permitted` } };
    return undefined;
  }
  if (target.includes('/projects/')) {
    if (bearer !== `Bearer ${state.google}`) {
      const message = 'Request had invalid authentication credentials.';
      return { status: 401, body: { error: { code: 401, message, status: 'UNAUTHENTICATED' } } };
    }
    if (
      !target.includes('/publishers/anthropic/') ||
      /^(?:vertex-2023-10-16|2026-10-21)$/.test(String(body.anthropic_version))
    )
      return undefined;
    return {
      status: 400,
      body: { error: { code: 400, message: 'no anthropic_version', status: 'INVALID_ARGUMENT' } },
    };
  }
  if (bearer === `Bearer ${state.entra}` || key === 'azure-key-0123456789') return undefined;
  const message = 'Access denied due to invalid subscription key or wrong API endpoint.';
  return { status: 401, body: { error: { code: '401', message } } };
}

/** AWS' documented check of a signature; what it answers if that fails. */
function awsRefusal(request: HostRequest, { aws, clockOffMs }: CloudState): string | undefined {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headerOf(request, 'authorization'),
    );
  if (found === null) return 'Missing Authentication Token';
  const [, id = '', day = '', region = '', service = '', names = '', signature] = found;
  if (region !== 'us-east-1' || service !== 'bedrock')
    return "Credential should be scoped to a valid region, not 'us-east-1'.";
  if (id !== aws.id || headerOf(request, 'x-amz-security-token') !== aws.token)
    return 'The security token included in the request is expired';
  const time = headerOf(request, 'x-amz-date');
  const sentMs = Date.parse(time.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'));
  if (Math.abs(sentMs - (Date.now() + clockOffMs)) > 5 * 60_000)
    return `Signature expired: ${time} is now earlier`;
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
    : 'The request signature we calculated does not match the signature you provided.';
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

interface Answer {
  readonly kind: string;
  /** A text is a whole answer. */
  readonly stream: string | readonly Buffer[];
}

function answerTo({ target, body }: HostRequest, { say }: CloudState): Answer {
  const kind = 'text/event-stream';
  const buffers = (texts: readonly string[]) => ({ kind, stream: texts.map((text) => Buffer.from(text)) });
  if (target.includes('/publishers/google/')) {
    if (target.endsWith(':countTokens')) return { kind, stream: '{"totalTokens":3}' };
    if (target.includes(':embedContent'))
      return {
        kind,
        stream: '{"embedding":{"values":[0.5]},"usageMetadata":{"promptTokenCount":3,"totalTokenCount":3}}',
      };
    return target.includes(':streamGenerateContent') ? buffers(geminiEvents) : { kind, stream: geminiAnswer };
  }
  const said = say(body);
  // At Vertex the body says it too.
  const isStream =
    target.endsWith('/invoke-with-response-stream') ||
    (JSON.parse(body.toString()) as { stream?: boolean }).stream === true;
  const dialect = target.includes('/chat/completions')
    ? 'chat'
    : target.includes('/responses')
      ? 'responses'
      : 'messages';
  if (target.includes('count-tokens') || target.endsWith('/count_tokens'))
    return { kind, stream: '{"input_tokens":3}' };
  if (!isStream) return { kind, stream: answerOf(dialect, said) };
  const events = eventsOf(dialect, said);
  if (!target.startsWith('/model/')) return buffers(events);
  return {
    kind: 'application/vnd.amazon.eventstream',
    stream: events.map((event) => chunkFrame(JSON.parse(event.slice(event.indexOf('data: ') + 6)))),
  };
}
