import { bytes, endpoint, key, maxOutputTokens, messages, model, project, stream, tools } from './facts.ts';
import { text } from './text.ts';
import { time } from './time.ts';

/** Every kind of condition; they are evaluated in this order, the most expensive last. */
export const matchers = {
  endpoint,
  model,
  project,
  key,
  stream,
  time,
  bytes,
  messages,
  max_output_tokens: maxOutputTokens,
  tools,
  text,
} as const;

export type MatcherName = keyof typeof matchers;
