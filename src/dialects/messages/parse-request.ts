import type { Effort } from '../../hosts/models.ts';
import type { AnswerFormat, ConversationRequest, Tool, ToolChoice } from '../conversation.ts';
import {
  type Dropped,
  type Fields,
  isFields,
  noteDropped,
  parseEach,
  parseFields,
  parseList,
  parseOptionalCount,
  parseOptionalFlag,
  parseOptionalNumber,
  parseOptionalText,
  parseText,
  parseTexts,
  toFields,
  toList,
  toText,
  unsupported,
  wrongField,
} from '../fields.ts';
import { effortOfBudget, hashUser, parseEffort, systemTurns } from '../translation/parse-common.ts';
import { parseMessagesTurns, parseSystemText } from './parse-turns.ts';
import { findToolChanges, type ToolChanges } from './tool-changes.ts';

/** A Messages request in the neutral form. Throws where a field is malformed or can't be carried over. */
export function parseMessagesRequest(body: Fields, dropped: Dropped): ConversationRequest {
  const tools = parseTools(body, findToolChanges(body.messages), dropped);
  const outputConfig = isFields(body.output_config) ? body.output_config : {};
  const choice = parseToolChoice(body.tool_choice, tools);
  return {
    system: systemTurns(parseSystemText(body.system ?? '', 'system')),
    turns: parseMessagesTurns(body.messages, dropped),
    tools: tools.custom,
    ownTools: [...tools.server],
    toolChoice: choice,
    parallelCalls: parseParallel(body.tool_choice),
    maxOutputTokens: parseOptionalCount(body.max_tokens, 'max_tokens'),
    temperature: parseOptionalNumber(body.temperature, 'temperature'),
    topP: parseOptionalNumber(body.top_p, 'top_p'),
    stop: parseTexts(body.stop_sequences ?? [], 'stop_sequences'),
    effort: parseEffort(outputConfig.effort, 'output_config.effort') ?? effortOfThinking(body.thinking),
    format: parseFormat(outputConfig.format),
    user: parseUser(body.metadata),
    isStreaming: parseOptionalFlag(body.stream, 'stream') ?? false,
  };
}

interface ParsedTools {
  readonly custom: readonly Tool[];
  /** Names of tools that only Anthropic itself can run. */
  readonly server: ReadonlySet<string>;
}

/**
 * Tools that wait to be found (`defer_loading`) are offered once a search of the client's has named them, or the request
 * forces them: so is Claude Code's placeholder never. Where the search is the provider's own, nothing else could find them.
 */
function parseTools(
  { tools: value, tool_choice: choice }: Fields,
  changes: ToolChanges,
  dropped: Dropped,
): ParsedTools {
  const { name: forced } = toFields(choice);
  const custom: Tool[] = [];
  const server = new Set<string>();
  const listed = new Set(toList(value).map((tool) => toText(toFields(tool).name)));
  // Of a tool that was added again, the later definition holds.
  const added = new Map(changes.defined.map((tool) => [toText(tool.name), tool]));
  const defined = [...added.values()].filter(({ name }) => !listed.has(toText(name)));
  const findsAll = toList(value).some((tool) => toText(toFields(tool).type).startsWith('tool_search_tool_'));
  const isWaiting = ({ name, defer_loading }: Fields) =>
    defer_loading === true && !findsAll && name !== forced && !changes.loaded.has(toText(name));
  const all = value === undefined || value === null ? defined : [...parseList(value, 'tools'), ...defined];
  parseEach(all, 'tools', (tool, path) => {
    const name = parseText(tool.name, `${path}.name`);
    if (isServerTool(tool)) {
      server.add(name);
      return;
    }
    if (isWaiting(tool) || changes.removed.has(name)) return;
    custom.push({
      kind: 'function',
      name,
      description: parseOptionalText(tool.description, `${path}.description`),
      parameters: parseFields(tool.input_schema, `${path}.input_schema`),
      strict: parseOptionalFlag(tool.strict, `${path}.strict`),
    });
  });
  if (server.size > 0) noteDropped(dropped, 'tools[type]');
  return { custom, server };
}

function isServerTool(tool: Fields): boolean {
  const { type } = tool;
  return typeof type === 'string' && type !== 'custom';
}

function parseToolChoice(value: unknown, { custom, server }: ParsedTools): ToolChoice | undefined {
  if (value === undefined || value === null || custom.length === 0) return undefined;
  const choice = parseFields(value, 'tool_choice');
  switch (choice.type) {
    case 'auto':
      return { kind: 'auto' };
    case 'any':
      return { kind: 'required' };
    case 'none':
      return { kind: 'none' };
    case 'tool': {
      const name = parseText(choice.name, 'tool_choice.name');
      if (server.has(name)) throw unsupported('tool_choice', 'this model cannot run the forced tool');
      return { kind: 'tool', tool: { name, kind: 'function' } };
    }
    default:
      throw wrongField('tool_choice.type', 'auto, any, tool or none');
  }
}

function parseParallel(toolChoice: unknown): boolean | undefined {
  return isFields(toolChoice) && toolChoice.disable_parallel_tool_use === true ? false : undefined;
}

function effortOfThinking(value: unknown): Effort | undefined {
  if (!isFields(value)) return undefined;
  if (value.type === 'disabled') return 'none';
  if (value.type !== 'enabled') return undefined;
  return effortOfBudget(parseOptionalCount(value.budget_tokens, 'thinking.budget_tokens') ?? 0);
}

function parseFormat(value: unknown): AnswerFormat | undefined {
  if (value === undefined || value === null) return undefined;
  const format = parseFields(value, 'output_config.format');
  if (format.type !== 'json_schema') throw wrongField('output_config.format.type', 'json_schema');
  return {
    kind: 'schema',
    name: 'answer',
    schema: parseFields(format.schema, 'output_config.format.schema'),
  };
}

function parseUser(metadata: unknown): string | undefined {
  if (metadata === undefined || metadata === null) return undefined;
  return hashUser(parseOptionalText(parseFields(metadata, 'metadata').user_id, 'metadata.user_id'));
}
