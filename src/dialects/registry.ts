import { chat } from './chat.ts';
import type { Dialect } from './dialect.ts';
import { embeddings } from './embeddings.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

/** Every dialect the gateway speaks: to add one, write its file and a line here. */
export const dialects = { messages, chat, responses, embeddings } satisfies Record<string, Dialect>;

export type DialectName = keyof typeof dialects;
