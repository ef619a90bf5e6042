import * as z from 'zod';
import {
  between,
  byType,
  cap,
  checkChoice,
  type Fields,
  fields,
  filled,
  flag,
  text,
  textOr,
  visible,
  type Wrong,
  wholeRequest,
} from './shapes.ts';

/** On any block but thoughts, on tools and on the system prompt, four at most. */
const cached = {
  cache_control: z
    .strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() })
    .optional(),
};
const toolId = text.regex(/^[a-zA-Z0-9_-]+$/);
const content = {
  text: { text: visible, ...cached },
  image: { source: fields, ...cached },
  document: { source: fields, title: text.optional(), ...cached },
};
const userBlock = byType({
  ...content,
  tool_result: {
    tool_use_id: toolId,
    is_error: flag.optional(),
    content: textOr(z.array(byType(content))).optional(),
    ...cached,
  },
});
const assistantBlock = byType({
  text: content.text,
  tool_use: { id: toolId, name: filled, input: fields, ...cached },
  thinking: { thinking: text, signature: filled },
  redacted_thinking: { data: filled },
});
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('user'), content: textOr(z.array(userBlock).min(1), filled) }),
  z.strictObject({ role: z.literal('assistant'), content: textOr(z.array(assistantBlock).min(1), filled) }),
]);

const tool = z.strictObject({
  name: text.regex(/^[a-zA-Z0-9_-]{1,128}$/),
  description: text.optional(),
  input_schema: z.looseObject({ type: z.literal('object') }),
  strict: flag.optional(),
  ...cached,
});
const parallel = { disable_parallel_tool_use: flag.optional() };

const request = z.strictObject({
  model: filled,
  max_tokens: cap,
  stream: flag.optional(),
  messages: z.array(message).min(1),
  system: textOr(z.array(byType({ text: { text: filled, ...cached } }))).optional(),
  tools: z.array(tool).optional(),
  tool_choice: byType({
    none: {},
    auto: parallel,
    any: parallel,
    tool: { name: filled, ...parallel },
  }).optional(),
  thinking: byType({
    enabled: { budget_tokens: z.int().min(1024) },
    adaptive: {},
    disabled: {},
  }).optional(),
  temperature: between(0, 1),
  top_p: between(0, 1),
  metadata: z.strictObject({ user_id: text }).optional(),
  stop_sequences: z.array(visible).optional(),
  output_config: z
    .strictObject({
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).optional(),
      format: byType({ json_schema: { schema: fields } }).optional(),
    })
    .optional(),
});
type Body = z.infer<typeof request>;

/** POST /v1/messages, as strict as the real host. */
export const messagesRequest = wholeRequest(request, (body) => {
  const turns = turnsOf(body);
  return checkTurns(turns) ?? checkTools(body) ?? checkThinking(body, turns) ?? checkBreakpoints(body);
});

function checkBreakpoints(body: Body): Wrong {
  const marks = JSON.stringify(body).match(/"cache_control":\{/g)?.length ?? 0;
  return marks > 4
    ? [['messages'], `a maximum of 4 blocks with cache_control may be provided, found ${marks}`]
    : undefined;
}

interface Block extends Fields {
  readonly path: readonly (string | number)[];
}
/** Consecutive messages of one role. */
interface Turn {
  readonly role: string;
  readonly at: number;
  readonly blocks: readonly Block[];
}

function turnsOf({ messages }: Body): readonly Turn[] {
  const turns: Turn[] = [];
  for (const [at, { role, content: said }] of messages.entries()) {
    const path = ['messages', at, 'content'];
    const blocks =
      typeof said === 'string'
        ? [{ type: 'text', text: said, path }]
        : (said as readonly Fields[]).map((block, i) => ({ ...block, path: [...path, i] }));
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
      turn.role === 'user' ? checkResults(turn, turns[i - 1]) : checkCalls(turn, turns[i + 1], seen);
    if (wrong !== undefined) return wrong;
  }
  const end = turns.at(-1)?.role === 'assistant' ? turns.at(-1)?.blocks.at(-1) : undefined;
  const isOpen = end?.type === 'text' && /\s$/.test(String(end.text));
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

function checkTools({ tools = [], tool_choice: choice }: Body): Wrong {
  const names = tools.map((each) => each.name);
  const twice = names.findIndex((each, i) => names.indexOf(each) !== i);
  if (twice >= 0) return [['tools', twice, 'name'], 'tool names must be unique'];
  return checkChoice(choice, (choice as Fields | undefined)?.name, names, ['tool_choice', 'name']);
}

function checkThinking({ thinking, max_tokens, tool_choice }: Body, turns: readonly Turn[]): Wrong {
  const { type, budget_tokens: budget } = (thinking ?? { type: 'disabled' }) as Fields;
  if (type === 'disabled') return undefined;
  if (type === 'enabled' && Number(budget) >= max_tokens)
    return [['thinking', 'budget_tokens'], 'must be below max_tokens'];
  if (tool_choice?.type === 'any' || tool_choice?.type === 'tool')
    return [['tool_choice'], 'a call cannot be forced while thinking is on'];
  if (type === 'enabled' && turns.at(-1)?.role === 'assistant')
    return [['messages'], 'an answer that has begun must begin with its thinking block'];
  const isInTurn = turns.at(-1)?.blocks.some((block) => block.type === 'tool_result');
  const first = String(turns.at(-2)?.blocks[0]?.type);
  return type === 'enabled' && isInTurn && !['thinking', 'redacted_thinking'].includes(first)
    ? [['messages', turns.at(-2)?.at ?? 0, 'content'], 'this turn must begin with its thinking block']
    : undefined;
}
