import { chat } from './chat/chat.ts';
import type { Dialect } from './dialect.ts';
import { embeddings } from './embeddings/embeddings.ts';
import { messages } from './messages/messages.ts';
import { responses } from './responses/responses.ts';

/** Every dialect the gateway speaks: to add one, write its file and a line here. */
export const dialects = { messages, chat, responses, embeddings } satisfies Record<string, Dialect>;

export type DialectName = keyof typeof dialects;
