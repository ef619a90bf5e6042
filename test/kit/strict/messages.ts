import * as z from 'zod';
import {
  between,
  by,
  byType,
  type Fields,
  fields,
  filled,
  flag,
  foreign,
  text,
  textOr,
  visible,
  type Wrong,
  wholeRequest,
} from './shapes.ts';

const toolId = text.regex(/^[a-zA-Z0-9_-]+$/);
const textBlock = z.object({ text: visible });
const assistantBlocks = {
  text: textBlock,
  tool_use: z.object({ name: filled, input: fields, id: toolId }),
  thinking: z.object({ thinking: text, signature: filled }),
  redacted_thinking: z.object({ data: filled }),
};
const part = by((value) => z.object({ type: filled, ...(value?.type === 'text' && { text }) }));
const userBlocks = {
  text: textBlock,
  tool_result: z.object({
    tool_use_id: toolId,
    is_error: flag.nullish(),
    content: textOr(z.array(part)).optional(),
  }),
};
const otherBlocks =
  /^(?:image|document|search_result|container_upload|server_tool_use|mcp_tool_use|compaction|\w+_tool_result)$/;
const other = (type: string) => {
  if (!otherBlocks.test(type)) return undefined;
  return z.object(type === 'image' || type === 'document' ? { source: fields } : {});
};

const message = by((value) => {
  const role = z.enum(['user', 'assistant', 'system']);
  // Only the last message may be an empty one of the assistant, so the whole list is needed to check that.
  if (value?.role === 'assistant')
    return z.object({ content: textOr(z.array(byType(assistantBlocks, other))) });
  const block = value?.role === 'system' ? byType({ text: textBlock }) : byType(userBlocks, other);
  return z.object({ role, content: textOr(z.array(block).min(1), filled) });
});

/** Tools of the host have a dated type and no schema. */
const tool = by((value) =>
  (value?.type ?? 'custom') === 'custom'
    ? z.object({
        name: text.regex(/^[a-zA-Z0-9_-]{1,128}$/),
        description: text.nullish(),
        input_schema: z.object({ type: z.literal('object') }),
      })
    : z.object({ name: filled.nullish() }),
);
const choice = byType({
  none: z.object(foreign('disable_parallel_tool_use')),
  auto: z.object({ disable_parallel_tool_use: flag.nullish() }),
  any: z.object({ disable_parallel_tool_use: flag.nullish() }),
  tool: z.object({ name: filled, disable_parallel_tool_use: flag.nullish() }),
});
const display = z.enum(['summarized', 'omitted', 'updates']).nullish();
const thinking = byType({
  enabled: z.object({ budget_tokens: z.int().min(1024), display }),
  adaptive: z.object({ display }),
  disabled: z.object({ display }),
  between_tools: z.object({ display }),
});

const request = z.object({
  ...foreign(
    'n',
    'stop',
    'max_completion_tokens',
    'max_output_tokens',
    'response_format',
    'reasoning_effort',
  ),
  ...foreign(
    'seed',
    'parallel_tool_calls',
    'stream_options',
    'frequency_penalty',
    'presence_penalty',
    'logit_bias',
  ),
  ...foreign(
    'logprobs',
    'input',
    'instructions',
    'text',
    'reasoning',
    'include',
    'store',
    'user',
    'developer',
  ),
  max_tokens: z.int().min(0).nullish(),
  stream: flag.nullish(),
  messages: z.array(message).min(1),
  system: textOr(z.array(z.object({ type: z.literal('text'), text: filled }))).optional(),
  tools: z.array(tool).nullish(),
  tool_choice: choice.optional(),
  thinking: thinking.optional(),
  temperature: between(0, 1).nullish(),
  top_p: between(0, 1).nullish(),
  top_k: z.int().min(0).nullish(),
  metadata: z.object({ user_id: text.nullish() }).nullish(),
  stop_sequences: z.array(visible).nullish(),
  output_config: z
    .object({
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
      format: z.object({ type: z.literal('json_schema'), schema: fields }).nullish(),
    })
    .nullish(),
});
type Body = z.infer<typeof request>;

/** POST /v1/messages, as strict as the real host. */
export const messagesRequest = wholeRequest(request, (body) => {
  const turns = turnsOf(body);
  return checkTurns(turns) ?? checkTools(body) ?? checkThinking(body, turns);
});

interface Block extends Fields {
  readonly path: readonly (string | number)[];
}
/** Consecutive messages of one role; those of the role system are outside the turns. */
interface Turn {
  readonly role: string;
  readonly at: number;
  readonly blocks: readonly Block[];
}

function turnsOf({ messages }: Body): readonly Turn[] {
  const turns: Turn[] = [];
  for (const [at, each] of messages.entries()) {
    const { role, content } = each as { role: string; content: string | readonly Fields[] };
    if (role === 'system') continue;
    const path = ['messages', at, 'content'];
    const blocks =
      typeof content === 'string'
        ? [{ type: 'text', text: content, path }]
        : content.map((block, i) => ({ ...block, path: [...path, i] }));
    const last = turns.at(-1);
    if (last?.role === role) turns[turns.length - 1] = { ...last, blocks: [...last.blocks, ...blocks] };
    else turns.push({ role, at, blocks });
  }
  return turns;
}

function checkTurns(turns: readonly Turn[]): Wrong {
  if (turns[0]?.role !== 'user') return [['messages'], 'the first turn must be of the role user'];
  const seen = new Set<unknown>();
  for (const [i, turn] of turns.entries()) {
    const wrong =
      turn.role === 'user'
        ? checkResults(turn, turns[i - 1])
        : (checkSpoken(turn, i === turns.length - 1) ?? checkCalls(turn, turns[i + 1], seen));
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function checkSpoken({ at, blocks }: Turn, isLast: boolean): Wrong {
  if (!isLast && blocks.every(({ type, text: said }) => type === 'text' && said === ''))
    return [['messages', at, 'content'], 'must not be empty'];
  const end = blocks.at(-1);
  const isOpen = isLast && end?.type === 'text' && /\s$/.test(String(end.text));
  return isOpen ? [end.path, 'a last assistant message must not end in white space'] : undefined;
}

function checkCalls({ blocks }: Turn, after: Turn | undefined, seen: Set<unknown>): Wrong {
  const results = new Set(after?.blocks.map(({ tool_use_id }) => tool_use_id));
  for (const { type, id, path } of blocks) {
    if (type !== 'tool_use') continue;
    if (seen.has(id)) return [[...path, 'id'], 'tool_use ids must be unique'];
    seen.add(id);
    if (!results.has(id)) return [path, 'this tool_use has no tool_result in the message right after it'];
  }
  return undefined;
}

/** A user turn begins with a result for every tool_use before it, and for nothing else. */
function checkResults({ blocks }: Turn, before: Turn | undefined): Wrong {
  const open = new Set(before?.blocks.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : [])));
  for (const [i, { type, tool_use_id, path }] of blocks.entries()) {
    if (type !== 'tool_result') continue;
    if (!open.delete(tool_use_id))
      return [path, 'there is no unanswered tool_use with this id in the message before'];
    if (blocks[i - 1] !== undefined && blocks[i - 1]?.type !== 'tool_result')
      return [path, 'tool_result blocks come before all other blocks'];
  }
  return undefined;
}

function checkTools({ tools, tool_choice }: Body): Wrong {
  const names = (tools ?? []).map((each) => (each as Fields).name ?? (each as Fields).type);
  const twice = names.findIndex((each, i) => names.indexOf(each) !== i);
  if (twice >= 0) return [['tools', twice, 'name'], 'tool names must be unique'];
  const chosen = tool_choice as Fields | undefined;
  if (chosen === undefined || chosen.type === 'none') return undefined;
  if (names.length === 0)
    return [['tool_choice', ...(chosen.type === 'tool' ? ['name'] : [])], 'there are no tools'];
  const isKnown = chosen.type !== 'tool' || names.includes(chosen.name);
  return isKnown ? undefined : [['tool_choice', 'name'], 'tools has no tool of this name'];
}

function checkThinking({ thinking: asked, max_tokens, tool_choice }: Body, turns: readonly Turn[]): Wrong {
  const { type, budget_tokens: budget } = (asked ?? { type: 'disabled' }) as Fields;
  if (type === 'disabled') return undefined;
  if (type === 'enabled' && Number(budget) >= (max_tokens ?? Infinity))
    return [['thinking', 'budget_tokens'], 'must be below max_tokens'];
  if (['any', 'tool'].includes(String((tool_choice as Fields | undefined)?.type)))
    return [['tool_choice'], 'a call cannot be forced while thinking is on'];
  const isInTurn = turns.at(-1)?.blocks.some((block) => block.type === 'tool_result');
  const called = isInTurn ? turns.at(-2) : undefined;
  if (type !== 'enabled' || called === undefined || /thinking$/.test(String(called.blocks[0]?.type)))
    return undefined;
  return [
    ['messages', called.at, 'content'],
    'with thinking on, this turn must begin with its thinking block',
  ];
}
