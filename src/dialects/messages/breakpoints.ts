import type { Fields } from '../fields.ts';

/** What a request has in the order in which the host reads it, and so caches it. */
interface Cacheable {
  readonly tools: Fields[];
  readonly system: Fields[];
  readonly messages: readonly { readonly role: string; readonly content: Fields[] }[];
}

/** As many as hosts take, of one lifetime (docs.anthropic.com/en/docs/build-with-claude/prompt-caching, 2026-11). */
const maxBreakpoints = 4;
/** Blocks that take none. */
const thoughtTypes: readonly unknown[] = ['thinking', 'redacted_thinking'];

/**
 * Marks what will be sent again as the beginning of the next request, so that the host reads it from its cache: the last
 * tool, the last block of the system prompt and of the last message, and that of the user's message before, where the
 * request before ended. The client's own marks stay as far as there is room, the later ones first.
 */
export function placeBreakpoints({ tools, system, messages }: Cacheable): void {
  const lists = [tools, system, ...messages.map(({ content }) => content)];
  const own = lists.flatMap((list) =>
    list.flatMap((block, index) => (block.cache_control === undefined ? [] : [{ list, index }])),
  );
  const [first] = own;
  const control = first?.list[first.index]?.cache_control ?? { type: 'ephemeral' };
  for (const { list, index } of own) list[index] = withoutBreakpoint(list[index]);

  const before = messages.filter(({ role }) => role === 'user').at(-2)?.content ?? [];
  const needed = [messages.at(-1)?.content ?? [], system, tools].flatMap(lastPosition);
  let left = maxBreakpoints;
  for (const { list, index } of [...needed, ...own.reverse(), ...lastPosition(before)]) {
    const block = list[index];
    if (left === 0 || block === undefined || block.cache_control !== undefined) continue;
    list[index] = { ...block, cache_control: control };
    left -= 1;
  }
}

interface Position {
  readonly list: Fields[];
  readonly index: number;
}

function lastPosition(list: Fields[]): Position[] {
  const index = list.findLastIndex(({ type }) => !thoughtTypes.includes(type));
  return index < 0 ? [] : [{ list, index }];
}

function withoutBreakpoint(block: Fields = {}): Fields {
  const { cache_control: _, ...rest } = block;
  return rest;
}
