import type { ExchangeRow } from './exchange-list.ts';

/** What a list can be narrowed to by `show`; the gateway's answer and the page's own filter must mean the same. */
export const shows = {
  /** The gateway refused it: by a rule, a limit or a key. */
  blocked: ({ decision, outcome }: ExchangeRow) => decision === 'block' || outcome === 'refused',
  warned: ({ decision, would_block }: ExchangeRow) => decision === 'warn' || would_block !== undefined,
  /** It should have been answered, and was not. */
  failed: ({ decision, outcome, status }: ExchangeRow) =>
    decision !== 'block' &&
    outcome !== 'refused' &&
    (outcome === 'failed' || outcome === 'left' || status >= 400),
} satisfies Readonly<Record<string, (row: ExchangeRow) => boolean>>;

export type Show = keyof typeof shows;
