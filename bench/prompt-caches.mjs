// What a provider's prompt caches would have served, by its own bookkeeping: of each request the longest beginning that an
// earlier one has left there. Both count bytes of JSON, which are in proportion to tokens.
import { createHash } from 'node:crypto';

const digest = (before, text) => createHash('sha256').update(before).update(text).digest('base64');

/** What has the length of the shortest beginning that is kept: 4,096 tokens of Opus and Haiku. */
const shortest = 4 * 4_096;
const lifeMs = 5 * 60_000;

/**
 * Anthropic's: every block with `cache_control` ends a beginning that is kept for five minutes since it was last found, if
 * it is long enough; a request has four of them at most, and finds those that end at one of its own, or up to 20 blocks
 * before it. Tools, system and messages, in this order, and whatever else changes an answer. `repeated` is what a cache
 * that keeps every beginning would have found.
 */
export function messagesCache({ nowMs = Date.now } = {}) {
  const kept = new Map();
  const all = new Set();
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
    if (ends.length > 4) throw new Error(`${ends.length} blocks with cache_control`);
    const now = nowMs();
    const found = ends
      .flatMap((end) => beginnings.slice(Math.max(0, end - 19), end + 1))
      .filter((each) => now - (kept.get(each.seen) ?? Number.NEGATIVE_INFINITY) < lifeMs);
    for (const { seen } of found) kept.set(seen, now);
    for (const end of ends) if (beginnings[end].bytes >= shortest) kept.set(beginnings[end].seen, now);
    const repeated = beginnings.findLast((each) => all.has(each.seen))?.bytes ?? 0;
    for (const each of beginnings) all.add(each.seen);
    return { bytes, repeated, cached: Math.max(0, ...found.map((each) => each.bytes)) };
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

/** DeepSeek's and others': every beginning is kept in steps of 64 tokens, of the prompt in the order of a chat template. */
export function prefixCache(promptOf) {
  const kept = new Set();
  return ({ body }) => {
    const text = promptOf(body);
    let seen = '';
    let cached = 0;
    for (let from = 0; from + 256 <= text.length; from += 256) {
      seen = digest(seen, text.slice(from, from + 256));
      if (kept.has(seen)) cached = from + 256;
      kept.add(seen);
    }
    return { bytes: text.length, repeated: cached, cached };
  };
}

const list = (value) => (typeof value === 'string' ? [{ type: 'text', text: value }] : value);
