import type { ProviderOptions } from './provider.ts';

/**
 * A credential of the client's own for a provider, such as the login of a subscription. It can be read in one way only:
 * as the header for a provider that takes the client's credential. So no other provider can get it, and neither can a
 * record, a log or an error.
 */
export class ClientCredential {
  readonly #header: readonly [name: string, value: string];

  /** A header as the client sent it; the name in lower case. */
  constructor(name: string, value: string) {
    this.#header = [name, value];
  }

  /** Name and value of the header that carries it to this provider; nothing if the provider has a key of its own. */
  headerFor({ credentials }: Pick<ProviderOptions, 'credentials'>): readonly string[] {
    return credentials === 'client' ? this.#header : none;
  }
}

const none: readonly string[] = [];
