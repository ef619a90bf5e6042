import { createRequire } from 'node:module';
import { GatewayError } from '../../errors.ts';
import { type Cloud, clouds } from '../../hosts/clouds.ts';
import type { AnswerHeaders } from '../headers.ts';
import type { HostRequest } from '../transport/pool.ts';

/** What a request is authorized with. */
export interface Authorization {
  /** Flat list of names and values. */
  readonly headers: readonly string[];
  /** What of it must not be seen anywhere else; the same list for the same credential. */
  readonly secrets: readonly string[];
}

/** Authorizes requests with credentials that end, or that sign each request. */
export interface Authorizer {
  /** Rejects with provider.credentials_missing. */
  authorize(request: HostRequest): Promise<Authorization>;
  /** The provider refused a request (401 or 403). Returns whether another try may be accepted. */
  refused(refusal: ProviderRefusal): boolean;
}

interface ProviderRefusal {
  readonly headers: AnswerHeaders;
  /** Milliseconds since the request left: what was learnt since then makes a difference. */
  readonly ageMs: number;
}

/** The authorization of a request; every failure is a provider.credentials_missing. */
export async function authorized(authorizer: Authorizer, request: HostRequest): Promise<Authorization> {
  try {
    return await authorizer.authorize(request);
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError('provider.credentials_missing', 'the request could not be authorized', { cause });
  }
}

/** Whose credentials they are, for which host. */
export interface AuthorizedHost {
  /** The provider's name, for messages. */
  readonly name: string;
  readonly url: URL;
  /** For AWS. */
  readonly region?: string | undefined;
}

/**
 * A vendor's package that is installed beside the gateway by those who need it (docs/decisions/clouds.md): never from
 * the working directory, which may be somebody else's. Throws provider.credentials_missing if it isn't there.
 */
export function requirePackage(cloud: Cloud, { provider }: { readonly provider: string }): unknown {
  const { package: name, install } = clouds[cloud];
  try {
    return createRequire(import.meta.url)(name);
  } catch (cause) {
    const message = `provider ${provider}: its credentials need a package that is not installed: npm install ${install} (with -g if the gateway was installed so)`;
    throw new GatewayError('provider.credentials_missing', message, { cause });
  }
}
