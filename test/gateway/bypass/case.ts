import { methodFor } from '../../../src/dialects/dialect.ts';
import { fillModel } from '../../../src/dialects/model-path.ts';
import { type DialectName, dialects, type TextDialectName } from '../../../src/dialects/registry.ts';

/** One way past the policy that somebody might try, and what it must come to. */
export interface Bypass {
  readonly name: string;
  /** The endpoint it is sent to; `target` replaces its path. */
  readonly endpoint: DialectName | 'count_tokens';
  readonly body?: unknown;
  /** Bytes in place of a body in JSON. */
  readonly raw?: string | Buffer;
  readonly target?: string;
  /** `strict` belongs to a project whose policy refuses what it can't look into. */
  readonly key?: 'strict';
  readonly headers?: readonly string[];
  /** Replaces Content-Length. */
  readonly framing?: readonly string[];
  readonly expect: Expected;
}

export interface Expected {
  readonly status: number;
  readonly reason: string;
  /** The JSON pointer it must name. */
  readonly at?: string;
}

export const codename = 'project nightfall';
export const blocked: Expected = { status: 403, reason: 'content.codename' };
export const model = {
  messages: 'claude-test',
  chat: 'gpt-test',
  responses: 'gpt-test',
  embeddings: 'embed',
  gemini: 'gemini-test',
  gemini_embeddings: 'gemini-test',
  count_tokens: 'claude-test',
};

/** Where requests of an endpoint go. */
export function targetOf(endpoint: Bypass['endpoint'], name = model[endpoint], isStream = false): string {
  if (endpoint === 'count_tokens') return '/v1/messages/count_tokens';
  return fillModel(methodFor(dialects[endpoint], isStream), name);
}

/** The smallest request of an endpoint that says something. */
export function saying(
  endpoint: Bypass['endpoint'],
  text: unknown,
  more: object = {},
): Record<string, unknown> {
  const start = { model: model[endpoint] };
  if (endpoint === 'gemini') return { contents: [turn(endpoint, 'user', text)], ...more };
  if (endpoint === 'gemini_embeddings') return { requests: [{ content: { parts: [{ text }] } }], ...more };
  if (endpoint === 'responses') return { ...start, input: [{ role: 'user', content: text }], ...more };
  if (endpoint === 'embeddings') return { ...start, input: text, ...more };
  const cap = endpoint === 'messages' ? { max_tokens: 64 } : {};
  return { ...start, ...cap, messages: [{ role: 'user', content: text }], ...more };
}

/** A request of turns that are given whole. */
export function turns(endpoint: TextDialectName, ...all: readonly unknown[]): Record<string, unknown> {
  const list = { messages: 'messages', chat: 'messages', responses: 'input', gemini: 'contents' }[endpoint];
  return { ...saying(endpoint, 'x'), [list]: all };
}

/** A turn of a text, or of blocks. */
export function turn(endpoint: TextDialectName, role: 'user' | 'assistant', content: unknown): object {
  if (endpoint !== 'gemini') return { role, content };
  const parts = Array.isArray(content) ? content : [{ text: content }];
  return { role: role === 'user' ? role : 'model', parts };
}

/** A text block as each dialect of turns writes it. */
export function block(endpoint: TextDialectName, text: string): object {
  if (endpoint === 'gemini') return { text };
  return { type: endpoint === 'responses' ? 'input_text' : 'text', text };
}

export function base64(text: string | Buffer, encoding: BufferEncoding = 'utf8'): string {
  return (typeof text === 'string' ? Buffer.from(text, encoding) : text).toString('base64');
}

/** Every letter as a JSON escape. */
export function escaped(text: string): string {
  return [...text].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
}
