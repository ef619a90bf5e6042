import type { ExchangeRow } from './exchange-list.ts';

/** What these tests read of a row, or of a record. */
interface Ended {
  readonly decision?: string | undefined;
  readonly outcome?: string | undefined;
  readonly status: number;
}

/** The values of the filter `show`, shared so that the gateway's list, the page's filter and its numbers agree. */
export const shows = {
  /** The gateway refused it, because of a rule, a limit or its key. */
  blocked: ({ decision, outcome }: Ended) => decision === 'block' || outcome === 'refused',
  warned: ({ decision, would_block }: ExchangeRow) => decision === 'warn' || would_block !== undefined,
  /** It should have been answered, and was not. */
  failed: ({ decision, outcome, status }: Ended) =>
    decision !== 'block' &&
    outcome !== 'refused' &&
    (outcome === 'failed' || outcome === 'left' || status >= 400),
} satisfies Readonly<Record<string, (row: ExchangeRow) => boolean>>;

export type Show = keyof typeof shows;
