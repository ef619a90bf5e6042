import type { ConversationRequest, Tool, ToolName } from '../conversation.ts';
import {
  type Fields,
  parseFields,
  parseList,
  parseOptionalCount,
  parseOptionalText,
  parseText,
  unsupported,
  wrongField,
} from '../fields.ts';
import {
  parseOpenAiFormat,
  parseOpenAiOptions,
  parseOpenAiTool,
  parseOpenAiToolChoice,
} from '../translation/openai-request.ts';
import { parseEffort, splitSystem } from '../translation/parse-common.ts';
import { parseChatTurns } from './parse-turns.ts';

/** A Chat Completions request in the neutral form. */
export function parseChatRequest(body: Fields): ConversationRequest {
  const choice = parseOpenAiToolChoice(body.tool_choice, parseChatTools(body.tools), choices);
  const limit = parseOptionalCount(body.max_completion_tokens, 'max_completion_tokens');
  return {
    ...splitSystem(parseChatTurns(parseList(body.messages, 'messages'))),
    ...choice,
    maxOutputTokens: limit ?? parseOptionalCount(body.max_tokens, 'max_tokens'),
    stop: parseStop(body.stop),
    effort: parseEffort(body.reasoning_effort, 'reasoning_effort'),
    format: parseOpenAiFormat(body.response_format, 'response_format', schemaOf),
    verbosity: parseOptionalText(body.verbosity, 'verbosity'),
    ...parseOpenAiOptions(body),
  };
}

function parseStop(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [value];
  return parseList(value, 'stop').map((stop, index) => parseText(stop, `stop[${index}]`));
}

/** The schema is one level deeper, and may be left out. */
function schemaOf(format: Fields): readonly [Fields, string] {
  const path = 'response_format.json_schema';
  const nested = parseFields(format.json_schema, path);
  return [{ ...nested, schema: nested.schema ?? {} }, path];
}

function parseChatTools(value: unknown): Tool[] {
  return parseList(value ?? [], 'tools').map((entry, index) => {
    const path = `tools[${index}]`;
    const { type, ...tool } = parseFields(entry, path);
    if (type !== 'function' && type !== 'custom') throw wrongField(`${path}.type`, 'function or custom');
    const place = `${path}.${type}`;
    return parseOpenAiTool(type, parseFields(tool[type], place), place);
  });
}

function parseChosen(choice: Fields, path: string): ToolName {
  const kind = choice.type === 'custom' ? 'custom' : 'function';
  const nested = parseFields(choice[kind], `${path}.${kind}`);
  return { kind, name: parseText(nested.name, `${path}.${kind}.name`) };
}

const choices = {
  chosen: parseChosen,
  allowed: ({ allowed_tools: allowed }: Fields) => {
    const path = 'tool_choice.allowed_tools';
    return [parseFields(allowed, path), path] as const;
  },
  nameOf: (entry: Fields, path: string) => parseChosen(entry, path).name,
  unknown: () => unsupported('tool_choice', 'this kind of choice cannot be translated'),
};
