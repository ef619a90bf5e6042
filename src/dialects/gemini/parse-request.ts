import type { Effort } from '../../hosts/models.ts';
import type { AnswerFormat, ConversationRequest, Tool, ToolChoice } from '../conversation.ts';
import {
  type Dropped,
  type Fields,
  isFields,
  noteDropped,
  parseCap,
  parseEach,
  parseFields,
  parseList,
  parseOptionalNumber,
  parseOptionalText,
  parseText,
  parseTexts,
  unsupported,
  wrongField,
} from '../fields.ts';
import { effortOfBudget, systemTurns } from '../translation/parse-common.ts';
import { parseGeminiTurns, parseSystemText } from './parse-turns.ts';

/** A Gemini request in the neutral form; its members are in camelCase. */
export function parseGeminiRequest(body: Fields, dropped: Dropped): ConversationRequest {
  const config = parseFields(body.generationConfig ?? {}, 'generationConfig');
  const { tools, ownTools } = parseTools(body.tools, dropped);
  refuseOthers(config, dropped);
  return {
    system: systemTurns(parseSystemText(body.systemInstruction ?? '', 'systemInstruction')),
    turns: parseGeminiTurns(body.contents, dropped),
    ...parseChoice(body.toolConfig, tools),
    ownTools,
    maxOutputTokens: parseCap(config.maxOutputTokens, 'generationConfig.maxOutputTokens'),
    temperature: parseOptionalNumber(config.temperature, 'generationConfig.temperature'),
    topP: parseOptionalNumber(config.topP, 'generationConfig.topP'),
    stop: parseTexts(config.stopSequences ?? [], 'generationConfig.stopSequences'),
    effort: parseThinking(config.thinkingConfig),
    format: parseFormat(config),
    isStreaming: body.stream === true,
  };
}

const droppedSettings = [
  ...['topK', 'seed', 'presencePenalty', 'frequencyPenalty', 'logprobs', 'mediaResolution', 'imageConfig'],
  ...[
    'speechConfig',
    'audioTimestamp',
    'enableEnhancedCivicAnswers',
    'routingConfig',
    'modelSelectionConfig',
  ],
];

function refuseOthers(config: Fields, dropped: Dropped): void {
  const path = 'generationConfig';
  const { candidateCount = 1, responseLogprobs, responseModalities = [] } = config;
  if (candidateCount !== 1) throw unsupported(`${path}.candidateCount`, 'only one choice can be answered');
  if (responseLogprobs === true) {
    throw unsupported(`${path}.responseLogprobs`, 'this provider has no log probabilities');
  }
  const others = parseList(responseModalities, `${path}.responseModalities`).filter(
    (each) => each !== 'TEXT',
  );
  if (others.length > 0) throw unsupported(`${path}.responseModalities`, 'only text can be answered');
  for (const name of droppedSettings) {
    if (config[name] !== undefined) noteDropped(dropped, `${path}.${name}`);
  }
}

function parseTools(value: unknown, dropped: Dropped): Pick<ConversationRequest, 'tools' | 'ownTools'> {
  const own = new Set<string>();
  const tools = parseEach(value ?? [], 'tools', ({ functionDeclarations = [], ...others }, path) => {
    for (const name of Object.keys(others)) own.add(name);
    return parseEach(functionDeclarations, `${path}.functionDeclarations`, parseFunction);
  }).flat();
  if (own.size > 0) noteDropped(dropped, 'tools[].googleSearch');
  return { tools, ownTools: [...own] };
}

function parseFunction({ name, description, parameters, parametersJsonSchema }: Fields, path: string): Tool {
  const schema = parametersJsonSchema ?? (parameters === undefined ? undefined : toJsonSchema(parameters));
  return {
    kind: 'function',
    name: parseText(name, `${path}.name`),
    description: parseOptionalText(description, `${path}.description`),
    parameters: schema === undefined ? undefined : parseFields(schema, `${path}.parameters`),
  };
}

/** Google's schemas are those of OpenAPI, with types in capitals. */
function toJsonSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toJsonSchema);
  if (!isFields(schema)) return schema;
  const { type, nullable, ...rest } = schema;
  const inner = Object.entries(rest).map(([name, value]) => {
    if (name === 'properties' && isFields(value)) {
      return [
        name,
        Object.fromEntries(Object.entries(value).map(([key, each]) => [key, toJsonSchema(each)])),
      ];
    }
    const isSchema = name === 'items' || name === 'anyOf' || name === 'prefixItems';
    return [name, isSchema ? toJsonSchema(value) : value];
  });
  const word = typeof type === 'string' ? type.toLowerCase() : type;
  return {
    ...(word === undefined ? {} : { type: nullable === true ? [word, 'null'] : word }),
    ...Object.fromEntries(inner),
  };
}

function parseChoice(
  value: unknown,
  tools: readonly Tool[],
): Pick<ConversationRequest, 'tools' | 'toolChoice'> {
  const { functionCallingConfig } = parseFields(value ?? {}, 'toolConfig');
  if (functionCallingConfig === undefined || tools.length === 0) return { tools };
  const path = 'toolConfig.functionCallingConfig';
  const { mode, allowedFunctionNames = [] } = parseFields(functionCallingConfig, path);
  const names = parseList(allowedFunctionNames, `${path}.allowedFunctionNames`);
  const allowed = new Set(names);
  const kept = names.length === 0 ? tools : tools.filter(({ name }) => allowed.has(name));
  const toolChoice = choiceOf(mode, kept, names.length);
  return toolChoice === undefined ? { tools: kept } : { tools: kept, toolChoice };
}

function choiceOf(mode: unknown, tools: readonly Tool[], allowed: number): ToolChoice | undefined {
  switch (mode) {
    case undefined:
    case 'MODE_UNSPECIFIED':
      return undefined;
    case 'AUTO':
    case 'VALIDATED':
      return { kind: 'auto' };
    case 'NONE':
      return { kind: 'none' };
    case 'ANY': {
      const [only] = tools;
      return allowed === 1 && only !== undefined ? { kind: 'tool', tool: only } : { kind: 'required' };
    }
    default:
      throw wrongField('toolConfig.functionCallingConfig.mode', 'AUTO, ANY, NONE or VALIDATED');
  }
}

const levels: Readonly<Record<string, Effort>> = {
  MINIMAL: 'minimal',
  LOW: 'low',
  MEDIUM: 'medium',
  HIGH: 'high',
};

function parseThinking(value: unknown): Effort | undefined {
  if (!isFields(value)) return undefined;
  const { thinkingBudget: budget, thinkingLevel } = value;
  if (typeof thinkingLevel === 'string') return levels[thinkingLevel.toUpperCase()];
  if (typeof budget !== 'number' || budget < 0) return undefined;
  return budget === 0 ? 'none' : effortOfBudget(budget);
}

function parseFormat(config: Fields): AnswerFormat | undefined {
  const { responseMimeType = 'text/plain', responseSchema, responseJsonSchema } = config;
  if (responseMimeType === 'text/plain') return undefined;
  if (responseMimeType !== 'application/json') {
    throw unsupported('generationConfig.responseMimeType', 'only text and JSON can be answered');
  }
  const schema =
    responseJsonSchema ?? (responseSchema === undefined ? undefined : toJsonSchema(responseSchema));
  return schema === undefined ? { kind: 'json' } : { kind: 'schema', name: 'answer', schema };
}
