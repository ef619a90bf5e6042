/** One server-sent event, ready to be written. Deltas carry output, and only they are paced. */
export interface Frame {
  readonly kind: 'delta' | 'other';
  readonly text: string;
}

/** How fast and how far an answer is sent. */
export type Pace = 'free' | 'slow' | 'cut';

/** What an endpoint answers. */
export type Reply =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'plain'; readonly value: unknown; readonly pace: Pace; readonly deltas: number }
  | { readonly kind: 'stream'; readonly frames: Iterable<Frame>; readonly pace: Pace };

/** An event's payload; its type is its name too. */
export interface Payload {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** An event with its name, as the Messages and Responses dialects send it. */
export function namedFrame(payload: Payload, kind: Frame['kind'] = 'other'): Frame {
  return { kind, text: `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n` };
}

/** An event without a name, as the Chat dialect sends it. */
export function dataFrame(payload: unknown, kind: Frame['kind'] = 'other'): Frame {
  return { kind, text: `data: ${JSON.stringify(payload)}\n\n` };
}
