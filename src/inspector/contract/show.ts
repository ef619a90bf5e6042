import type { ExchangeRow } from './exchange-list.ts';

/** The values of the filter `show`, shared so that the gateway's list and the page's own filter agree. */
export const shows = {
  /** The gateway refused it, because of a rule, a limit or its key. */
  blocked: ({ decision, outcome }: ExchangeRow) => decision === 'block' || outcome === 'refused',
  warned: ({ decision, would_block }: ExchangeRow) => decision === 'warn' || would_block !== undefined,
  /** It should have been answered, and was not. */
  failed: ({ decision, outcome, status }: ExchangeRow) =>
    decision !== 'block' &&
    outcome !== 'refused' &&
    (outcome === 'failed' || outcome === 'left' || status >= 400),
} satisfies Readonly<Record<string, (row: ExchangeRow) => boolean>>;

export type Show = keyof typeof shows;
