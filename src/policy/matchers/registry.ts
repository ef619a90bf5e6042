import { check } from './check.ts';
import {
  bytes,
  client,
  documents,
  endpoint,
  images,
  inputTokens,
  key,
  maxOutputTokens,
  messages,
  model,
  project,
  provider,
  requestClass,
  session,
  stream,
  thinking,
  tools,
} from './facts.ts';
import { text } from './text.ts';
import { time } from './time.ts';

/** Every kind of condition; they are evaluated in this order, the most expensive last. */
export const matchers = {
  endpoint,
  model,
  provider,
  project,
  key,
  client,
  class: requestClass,
  session,
  stream,
  time,
  bytes,
  messages,
  max_output_tokens: maxOutputTokens,
  thinking,
  tools,
  images,
  documents,
  input_tokens: inputTokens,
  text,
  check,
} as const;

export type MatcherName = keyof typeof matchers;
