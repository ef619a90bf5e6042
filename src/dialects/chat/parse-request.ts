import type { ConversationRequest, OutputFormat } from '../conversation.ts';
import {
  type Fields,
  parseFields,
  parseList,
  parseOptionalCount,
  parseOptionalFlag,
  parseOptionalNumber,
  parseOptionalText,
  parseText,
  wrongField,
} from '../fields.ts';
import { parseEffort } from '../translation/parse-effort.ts';
import { splitSystem } from '../translation/split-system.ts';
import { parseChatToolChoice, parseChatTools } from './parse-tools.ts';
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
