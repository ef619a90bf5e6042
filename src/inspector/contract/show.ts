import type { ExchangeRow } from './exchange-list.ts';

/** What these tests read of a row, or of a record. */
type Ended = Pick<ExchangeRow, 'method' | 'status'> & {
  readonly decision?: string | undefined;
  readonly outcome?: string | undefined;
  readonly reason?: string | undefined;
};

/** The values of the filter `show`, shared so that the gateway's counts and the page's filter agree. */
export const shows = {
  /** A rule or a limit refused it. */
  blocked: isBlocked,
  /** It went on with something replaced, or its answer did. */
  redacted: ({ decision }: Ended) => decision === 'redact' || decision === 'mask',
  warned: ({ decision, would_block }: ExchangeRow) => decision === 'warn' || would_block !== undefined,
  /** It should have been answered, whole, and was not. */
  failed: (ended: Ended) =>
    ended.outcome !== undefined &&
    (ended.outcome !== 'answered' || ended.status >= 400) &&
    !isBlocked(ended) &&
    !isStray(ended),
} satisfies Readonly<Record<string, (row: ExchangeRow) => boolean>>;

export type Show = keyof typeof shows;

function isBlocked({ decision, reason = '' }: Ended): boolean {
  return decision === 'block' || /^(?:policy|limit)\.|^model\.not_allowed$/.test(reason);
}

/** What browsers and scanners look for on every port, such as an icon. */
function isStray({ method, status }: Ended): boolean {
  return method !== 'POST' && status === 404;
}
