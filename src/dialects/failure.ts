import type { GatewayError } from '../errors.ts';
import type { ProviderFailure } from './conversation.ts';
import { type Fields, isFields, toFields, toList, toText } from './fields.ts';

// The names Anthropic's SDK knows, by status; what is not listed is an `api_error` or the request's fault.
const typesByStatus: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  422: 'invalid_request_error',
  // Bedrock's word for a model that failed.
  424: 'api_error',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const anthropicTypes = new Set([...Object.values(typesByStatus), 'api_error']);

/** A failure that the gateway found itself. */
export function toFailure(error: GatewayError, requestId: string): ProviderFailure {
  const { reason, message, param } = error;
  const { type, status } = error.failure;
  return { type, message, code: reason, param, status, requestId };
}

/** Reads a provider's error of any shape; `status` is absent for an error inside a stream. */
export function parseFailure(body: unknown, status?: number): ProviderFailure {
  // Google answers some streams with a list that holds the error.
  const fields = toFields(Array.isArray(body) ? body[0] : body);
  const inner = isFields(fields.error) ? fields.error : fields;
  // Google has the HTTP status as code, and its own word as status.
  const code = toText(inner.status) || toCode(inner.code);
  const type = toText(inner.type);
  const message = toMessage(body, inner, fields) || `the provider answered with ${status ?? 'an error'}`;
  return {
    type: toAnthropicType(type, code, status),
    message,
    code: isTooLong(message, code, type)
      ? tooLongCode
      : (code ?? (anthropicTypes.has(type) ? undefined : type || undefined)),
    param: toText(inner.param) || undefined,
    status,
  };
}

/** The error in a whole answer whose status says success, and the status that fits it; undefined if it is an answer. */
export function errorInside(body: unknown): { status: number; error: unknown } | undefined {
  const fields = toFields(body);
  const choice = toFields(toList(fields.choices)[0]);
  const isError = isSaid(fields.error) || fields.type === 'error' || fields.object === 'error';
  if (!isError && !isSaid(choice.error)) return undefined;
  const said = isError ? fields : choice;
  const inner = isFields(said.error) ? said.error : said;
  const code = Number(inner.code ?? inner.status);
  const { type } = parseFailure(said);
  const status = code >= 400 && code <= 599 ? code : (statusOf[type] ?? 502);
  return { status, error: said };
}

function isSaid(error: unknown): boolean {
  return isFields(error) || toText(error) !== '';
}

const statusOf: Readonly<Record<string, number>> = {
  rate_limit_error: 429,
  overloaded_error: 503,
  invalid_request_error: 400,
};

/** What says that credentials are not accepted any more, or may not do anything of the kind. */
const ofCredentials =
  /not authorized to perform|security token|credential should be|signature|leaked|revoked|expired|suspended/i;
const ofKeys = /\bkeys?\b|api_?key|\btoken\b|credential|authenti|unauthori[sz]ed|subscription/i;
const ofRequests =
  /\bmodels?\b|model_not_found|moderation|flagged|content|safety|policy|policies|region|country|location|permission to use/i;

/** The status in words. */
const saysNothing = /^\W*(?:(?:error|403|forbidden|access(?: is)? denied|permission denied)\W*)+$/i;

/** What a restricted key may not do: OpenAI's `missing_scope`, which comes with 401. */
const ofScopes = /missing[_ ]scopes?\b|insufficient[_ ]permissions/i;

/** Whether a 401 or 403 is of a key that is accepted, and may not do what was asked for. */
export function isAboutScope(body: unknown): boolean {
  const { message, code = '' } = parseFailure(body, 403);
  const words = `${code} ${message}`;
  return ofScopes.test(words) && !ofCredentials.test(words);
}

/**
 * Whether a 403 is about the credentials, and not about what was asked for or the model: OpenRouter's moderation, OpenAI's
 * model_not_found and Anthropic's permission_error have the same status. Where nothing is said, it is.
 */
export function isAboutCredentials(body: unknown): boolean {
  const { message, code = '' } = parseFailure(body, 403);
  if (message === 'the provider answered with 403' || saysNothing.test(message)) return true;
  if (isAboutScope(body)) return false;
  const words = `${code} ${message}`;
  return ofCredentials.test(words) || (ofKeys.test(words) && !ofRequests.test(words));
}

/** Whole seconds to wait that Google says in the details of an error and in no header. */
export function retryDelayS(body: unknown): number | undefined {
  const { error } = toFields(Array.isArray(body) ? body[0] : body);
  const info = toList(toFields(error).details)
    .map(toFields)
    .find((detail) => toText(detail['@type']).endsWith('/google.rpc.RetryInfo'));
  const seconds = /^(\d{1,6}(?:\.\d+)?)s$/.exec(toText(info?.retryDelay))?.[1];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds));
}

function toCode(code: unknown): string | undefined {
  if (typeof code === 'number') return String(code);
  return toText(code) || undefined;
}

// OpenAI nests a message, Ollama has a bare string, FastAPI has `detail`, others `message`, or no JSON at all.
function toMessage(body: unknown, inner: Fields, outer: Fields): string {
  if (typeof body === 'string') return isPage(body) ? '' : body.trim();
  // AWS writes it either way.
  const detail =
    toText(outer.Message) || toText(outer.detail) || toText(toFields(toList(outer.detail)[0]).msg);
  return toText(inner.message) || toText(outer.error) || toText(outer.message) || detail;
}

/** HTML pages of proxies in between contain nothing that a client could act on. */
function isPage(text: string): boolean {
  return text.length > 500 || /<[a-z!/]/i.test(text);
}

function toAnthropicType(type: string, code: string | undefined, status: number | undefined): string {
  if (anthropicTypes.has(type) && type !== 'invalid_request_error') return type;
  if (status !== undefined)
    return typesByStatus[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  const words = `${type} ${code ?? ''}`.toLowerCase();
  if (/rate_limit|resource_exhausted/.test(words) || code === '429') return 'rate_limit_error';
  if (/overloaded|unavailable/.test(words) || code === '529' || code === '503') return 'overloaded_error';
  if (words.includes('invalid') || words.includes('context_length')) return 'invalid_request_error';
  return 'api_error';
}

// Agents compact their history when they see these: Claude Code the text, OpenAI's clients the code.
export const tooLongCode = 'context_length_exceeded';
export const tooLongText = 'prompt is too long';

/**
 * How hosts say that a prompt doesn't fit, in lower case. The wordings are those of the servers' sources and of the
 * lists that Claude Code 2.1.332 and opencode 1.18.33 carry (2026-11); test/dialects/failure.test.ts has each in full.
 */
const tooLongWordings: readonly RegExp[] = [
  // Anthropic, Fireworks.
  /prompt is too long/,
  /input length and `max_tokens` exceed context limit/,
  // Bedrock.
  /input is too long for requested model/,
  // OpenAI's chat and all that copy it: vLLM, DeepSeek, OpenRouter, Mistral, SGLang.
  /maximum context length/,
  // OpenAI's responses.
  /exceeds the context window/,
  // Google.
  /exceeds the maximum number of tokens/,
  // vLLM before 0.9.
  /longer than the maximum model length/,
  // SGLang.
  /longer than the model's context length/,
  // llama.cpp.
  /exceeds the available context size/,
  /context size has been exceeded/,
  // LM Studio.
  /greater than the context length/,
  /context length of only \d+ tokens/,
  // Ollama.
  /input length exceeds the context length/,
  /prompt too long; exceeded (?:max )?context length/,
  // TGI.
  /`inputs` must have less than \d+ tokens/,
  /`inputs` tokens \+ `max_new_tokens` must be/,
  // Groq, Cerebras.
  /reduce the length of the messages/,
  // xAI.
  /maximum prompt length is/,
  // Kimi.
  /exceeded model token limit/,
  // MiniMax.
  /context window exceeds limit/,
  // GLM.
  /prompt exceeds max length/,
  // Qwen at DashScope.
  /range of input length should be/,
  // GitHub's models.
  /prompt token count of \d+ exceeds the limit/,
  // Cohere.
  /number of tokens in the prompt cannot exceed/,
];

/** Codes and types of an error that say the same: OpenAI's, llama.cpp's, GitHub's, GLM's. */
const tooLongCodes = new Set([
  tooLongCode,
  'exceed_context_size_error',
  'model_max_prompt_tokens_exceeded',
  'model_context_window_exceeded',
]);

function isTooLong(message: string, ...codes: readonly (string | undefined)[]): boolean {
  if (codes.some((code) => code !== undefined && tooLongCodes.has(code))) return true;
  const text = message.toLowerCase();
  return tooLongWordings.some((wording) => wording.test(text));
}
