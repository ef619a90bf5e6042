// What a provider's prompt caches would have served, by its own bookkeeping: of each request the longest beginning that an
// earlier one has left there. Both count bytes of JSON, which are in proportion to tokens.
import { createHash } from 'node:crypto';

const digest = (before, text) => createHash('sha256').update(before).update(text).digest('base64');

/**
 * Anthropic's: every block with `cache_control` ends a beginning that is kept; a request finds those that end at one of
 * its own, or up to 20 blocks before it. Tools, system and messages, in this order, and whatever else changes an answer.
 */
export function messagesCache() {
  const kept = new Set();
  return ({ headers, target, body }) => {
    const {
      tools = [],
      system = [],
      messages = [],
      metadata: _,
      max_tokens: __,
      stream: ___,
      ...rest
    } = body;
    const blocks = [
      ...tools,
      ...list(system),
      ...messages.flatMap(({ role, content }) => list(content).map((block) => ({ role, ...block }))),
    ];
    const beta = headers['anthropic-beta'] ?? '';
    let seen = digest(
      '',
      JSON.stringify([headers.authorization, target, beta, headers['anthropic-version'], rest]),
    );
    let bytes = 0;
    const beginnings = blocks.map(({ cache_control, ...block }) => {
      const text = JSON.stringify(block);
      seen = digest(seen, text);
      bytes += text.length;
      return { seen, bytes, ends: cache_control !== undefined };
    });
    const ends = beginnings.flatMap(({ ends }, i) => (ends ? [i] : []));
    const found = ends
      .flatMap((end) => beginnings.slice(Math.max(0, end - 20), end + 1))
      .filter((each) => kept.has(each.seen));
    for (const end of ends) kept.add(beginnings[end].seen);
    return { bytes, cached: Math.max(0, ...found.map((each) => each.bytes)) };
  };
}

/** OpenAI's: every beginning is kept, in steps of 128 tokens (512 bytes here), for the same prompt_cache_key. */
export function responsesCache() {
  const kept = new Set();
  return ({ headers, body }) => {
    const { instructions = '', tools = [], input, model, prompt_cache_key } = body;
    const text = JSON.stringify([instructions, tools, ...list(input)]);
    let seen = digest(
      '',
      JSON.stringify([headers.authorization, headers['chatgpt-account-id'], model, prompt_cache_key]),
    );
    let cached = 0;
    for (let from = 0; from + 512 <= text.length; from += 512) {
      seen = digest(seen, text.slice(from, from + 512));
      if (kept.has(seen)) cached = from + 512;
      kept.add(seen);
    }
    return { bytes: text.length, cached };
  };
}

const list = (value) => (typeof value === 'string' ? [{ type: 'text', text: value }] : value);
