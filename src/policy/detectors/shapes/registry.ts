import groups from './services.json' with { type: 'json' };

/** What the keys of one service look like: plain facts, compiled into the search. */
export interface Service {
  readonly name: string;
  /**
   * Each in the notation of `format.ts`: literal characters, `<set:length>`, `<one|other>` and `<uuid>`. Lengths are
   * only as strict as they are known to be stable.
   */
  readonly formats: readonly string[];
  /** The page that documents the key: the vendor's, or `github` for GitHub's list of supported secret-scanning patterns. */
  readonly page: string;
  /** The month in which a page of the vendor was seen to show this prefix; absent if none was found. */
  readonly confirmed?: string;
}

/** Every service whose keys have a recognizable shape; those of blockchains are private keys as wallets export them. */
export const services: readonly Service[] = Object.values(groups).flat();
