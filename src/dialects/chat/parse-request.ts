import type { ConversationRequest, OutputFormat, Tool, ToolChoice, ToolName } from '../conversation.ts';
import {
  type Fields,
  parseFields,
  parseList,
  parseOptionalCount,
  parseOptionalFlag,
  parseOptionalNumber,
  parseOptionalText,
  parseText,
  unsupported,
  wrongField,
} from '../fields.ts';
import { parseEffort, splitSystem } from '../translation/parse-common.ts';
import { parseChatTurns } from './parse-turns.ts';

/** A Chat Completions request in the neutral form. */
export function parseChatRequest(body: Fields): ConversationRequest {
  const choice = parseChatToolChoice(body.tool_choice, parseChatTools(body.tools));
  const limit = parseOptionalCount(body.max_completion_tokens, 'max_completion_tokens');
  return {
    ...splitSystem(parseChatTurns(parseList(body.messages, 'messages'))),
    ...choice,
    parallelCalls: parseOptionalFlag(body.parallel_tool_calls, 'parallel_tool_calls'),
    maxOutputTokens: limit ?? parseOptionalCount(body.max_tokens, 'max_tokens'),
    temperature: parseOptionalNumber(body.temperature, 'temperature'),
    topP: parseOptionalNumber(body.top_p, 'top_p'),
    stop: parseStop(body.stop),
    effort: parseEffort(body.reasoning_effort, 'reasoning_effort'),
    format: parseFormat(body.response_format),
    verbosity: parseOptionalText(body.verbosity, 'verbosity'),
    user: parseOptionalText(body.user ?? body.safety_identifier, 'user'),
    metadata: body.metadata ?? undefined,
    serviceTier: parseOptionalText(body.service_tier, 'service_tier'),
    promptCacheKey: parseOptionalText(body.prompt_cache_key, 'prompt_cache_key'),
    isStreaming: parseOptionalFlag(body.stream, 'stream') ?? false,
  };
}

function parseStop(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [value];
  return parseList(value, 'stop').map((stop, index) => parseText(stop, `stop[${index}]`));
}

function parseFormat(value: unknown): OutputFormat | undefined {
  if (value === undefined || value === null) return undefined;
  const format = parseFields(value, 'response_format');
  switch (format.type) {
    case 'text':
      return undefined;
    case 'json_object':
      return { kind: 'json' };
    case 'json_schema': {
      const path = 'response_format.json_schema';
      const nested = parseFields(format.json_schema, path);
      return {
        kind: 'schema',
        name: parseText(nested.name, `${path}.name`),
        schema: parseFields(nested.schema ?? {}, `${path}.schema`),
        strict: parseOptionalFlag(nested.strict, `${path}.strict`),
        description: parseOptionalText(nested.description, `${path}.description`),
      };
    }
    default:
      throw wrongField('response_format.type', 'text, json_object or json_schema');
  }
}

interface ChosenTools {
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice | undefined;
}

function parseChatTools(value: unknown): Tool[] {
  return parseList(value ?? [], 'tools').map((entry, index) => {
    const path = `tools[${index}]`;
    const tool = parseFields(entry, path);
    if (tool.type === 'function') return parseFunction(tool, path);
    if (tool.type === 'custom') return parseCustom(tool, path);
    throw wrongField(`${path}.type`, 'function or custom');
  });
}

function parseFunction(tool: Fields, path: string): Tool {
  const place = `${path}.function`;
  const nested = parseFields(tool.function, place);
  return {
    kind: 'function',
    name: parseText(nested.name, `${place}.name`),
    description: parseOptionalText(nested.description, `${place}.description`),
    parameters: parseFields(nested.parameters ?? {}, `${place}.parameters`),
    strict: parseOptionalFlag(nested.strict, `${place}.strict`),
  };
}

function parseCustom(tool: Fields, path: string): Tool {
  const place = `${path}.custom`;
  const nested = parseFields(tool.custom, place);
  return {
    kind: 'custom',
    name: parseText(nested.name, `${place}.name`),
    description: parseOptionalText(nested.description, `${place}.description`),
    format: nested.format ?? undefined,
  };
}

/** The choice, and the tools that it leaves: a list of allowed tools removes all others. */
function parseChatToolChoice(value: unknown, tools: readonly Tool[]): ChosenTools {
  if (value === undefined || value === null) return { tools };
  if (value === 'auto' || value === 'required' || value === 'none') {
    return { tools, toolChoice: { kind: value } };
  }
  const choice = parseFields(value, 'tool_choice');
  switch (choice.type) {
    case 'function':
    case 'custom':
      return { tools, toolChoice: { kind: 'tool', tool: parseChosen(choice, 'tool_choice') } };
    case 'allowed_tools': {
      const path = 'tool_choice.allowed_tools';
      const allowed = parseFields(choice.allowed_tools, path);
      const names = new Set(
        parseList(allowed.tools, `${path}.tools`).map(
          (entry, index) =>
            parseChosen(parseFields(entry, `${path}.tools[${index}]`), `${path}.tools[${index}]`).name,
        ),
      );
      const kind = allowed.mode === 'required' ? 'required' : 'auto';
      return { tools: tools.filter((tool) => names.has(tool.name)), toolChoice: { kind } };
    }
    default:
      throw unsupported('tool_choice', 'this kind of choice cannot be translated');
  }
}

function parseChosen(choice: Fields, path: string): ToolName {
  const kind = choice.type === 'custom' ? 'custom' : 'function';
  const nested = parseFields(choice[kind], `${path}.${kind}`);
  return { kind, name: parseText(nested.name, `${path}.${kind}.name`) };
}
