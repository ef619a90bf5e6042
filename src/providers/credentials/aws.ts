import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { HostRequest } from '../transport/pool.ts';
import { type AuthorizedHost, type Authorizer, requirePackage } from './authorizer.ts';
import { CredentialCache } from './credential-cache.ts';

/** What requests are signed with. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

/** The part of `@aws-sdk/credential-provider-node` that is used. */
interface CredentialProvider {
  defaultProvider(init: {
    readonly clientConfig: { readonly region: string };
    readonly ignoreCache: boolean;
  }): () => Promise<AwsKeys>;
}

interface Scope {
  readonly region: string;
  /** As IAM names it. */
  readonly service: string;
}

/** AWS refuses requests that are signed for a time five minutes away; a clock that is off by less is left alone. */
const skewMs = 60_000;

/** Signature Version 4 by the default chain: environment, profile, SSO, web identity, container, instance. */
export function awsAuthorizer({ name, url, region = '' }: AuthorizedHost): Authorizer {
  const scope = { region, service: serviceOf(url.hostname) };
  const cache = new CredentialCache({
    fetch: async () => {
      const { defaultProvider } = requirePackage('aws', { provider: name }) as CredentialProvider;
      // A new one each time that reads all files again, so that it keeps nothing that was refused, or that a login has replaced.
      const keys = await defaultProvider({ clientConfig: { region }, ignoreCache: true })();
      const secrets = [keys.secretAccessKey, ...(keys.sessionToken === undefined ? [] : [keys.sessionToken])];
      return { value: { keys, secrets }, endsAtMs: keys.expiration?.getTime() ?? Number.POSITIVE_INFINITY };
    },
    failure: `provider ${name}: there are no credentials of AWS: run "aws sso login" or "aws configure", or set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
  });
  /** How far this machine's clock is behind the provider's. */
  let behindMs = 0;
  /** When that was found, by `performance.now()`. */
  let correctedAtMs = Number.NEGATIVE_INFINITY;
  return {
    authorize: async (request) => {
      const { keys, secrets } = await cache.get();
      const date = new Date(Date.now() + behindMs);
      return { headers: await sign({ request, host: url.host }, { ...scope, keys, date }), secrets };
    },
    refused: ({ headers, ageMs }) => {
      const theirsMs = Date.parse(headers.get('date') ?? '');
      const foundMs = Number.isNaN(theirsMs) ? behindMs : theirsMs - Date.now();
      if (Math.abs(foundMs - behindMs) < skewMs)
        return performance.now() - correctedAtMs < ageMs || cache.refused(ageMs);
      behindMs = foundMs;
      correctedAtMs = performance.now();
      return true;
    },
  };
}

/** The headers that sign a request, as a flat list. Only those of its own headers are signed that say what its body is. */
export async function sign(
  { request, host }: { readonly request: HostRequest; readonly host: string },
  { keys, date, region, service }: Scope & { readonly keys: AwsKeys; readonly date: Date },
): Promise<readonly string[]> {
  const { method, path, body, headers } = request;
  const signer = new SignatureV4({
    region,
    service,
    credentials: keys,
    sha256: Sha256,
    applyChecksum: false,
  });
  const { pathname, searchParams, hostname, protocol } = new URL(`https://${host}${path}`);
  const type = headers.indexOf('content-type');
  const own = { host, ...(type >= 0 && { 'content-type': headers[type + 1] as string }) };
  const query = Object.fromEntries([...searchParams.keys()].map((name) => [name, searchParams.getAll(name)]));
  const signed = await signer.sign(
    { method, protocol, hostname, path: pathname, query, headers: own, body },
    { signingDate: date },
  );
  return Object.entries(signed.headers).flatMap(([name, value]) => (name in own ? [] : [name, value]));
}

/** What the signer hashes with: Node's own, in place of JavaScript. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', toBytes(secret));
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  reset(): void {
    throw new Error('a digest is made once');
  }
}

function toBytes(secret: string | ArrayBuffer | ArrayBufferView): Buffer | string {
  if (typeof secret === 'string') return secret;
  return ArrayBuffer.isView(secret)
    ? Buffer.from(secret.buffer, secret.byteOffset, secret.byteLength)
    : Buffer.from(secret);
}

/** What IAM calls the service of one of AWS' hosts. */
function serviceOf(hostname: string): string {
  return /(?:^|\.)bedrock-mantle\./.test(hostname) ? 'bedrock-mantle' : 'bedrock';
}
