import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  type Prompt,
  type PromptDialect,
  type PromptField,
  promptDialects,
} from '../../client/conversation.ts';
import { readModels } from '../../client/gateway.ts';
import { listOf } from '../../config/source/problems.ts';
import { GatewayError } from '../../errors.ts';
import { type CommonOptions, positiveInteger } from '../shell/command.ts';
import { deadline, type Io } from '../shell/io.ts';
import { loadUserConfig } from '../shell/load-config.ts';
import type { gatewayTarget } from '../shell/running-configuration.ts';

/** What is saved according to GATEWAY_HISTORY: nothing, what the user asks for (the default), or every prompt. */
export function historySetting({ GATEWAY_HISTORY: setting = '' }: Io['env']): 'off' | 'asked' | 'all' {
  if (setting === '' || setting === 'asked') return 'asked';
  if (setting === 'off' || setting === 'all') return setting;
  throw new GatewayError('usage.invalid', `GATEWAY_HISTORY must be off, asked or all, not ${setting}`);
}

/** Throws usage.invalid if nothing may be saved. */
export function checkHistoryAllowed(env: Io['env']): void {
  if (historySetting(env) !== 'off') return;
  throw new GatewayError('usage.invalid', 'GATEWAY_HISTORY is off: no conversations are saved');
}

/** Options on how a model is asked, shared by `send` and `chat`. */
export interface PromptOptions extends CommonOptions {
  readonly model?: string;
  readonly system?: string;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly stop?: readonly string[];
  readonly set?: readonly PromptField[];
  readonly dialect?: PromptDialect;
  readonly render?: true;
  readonly usage?: true;
}

export function withPromptOptions(command: Command): Command {
  return command
    .option('-m, --model <name>', "model (default: GATEWAY_MODEL, else the gateway's own choice)")
    .option('-s, --system <text>', 'system prompt')
    .option('--max-tokens <n>', 'most tokens in the answer', positiveInteger)
    .option('--temperature <n>', 'sampling temperature, from 0', fromZero)
    .option('--top-p <n>', 'nucleus sampling: share of the likeliest tokens to choose from, 0 to 1', share)
    .option('--stop <text>', 'stop sequence; may be repeated', collectText)
    .option(
      '--set <name=value>',
      'any other field of the request, as seed=7 or reasoning.effort=low',
      collectField,
    )
    .addOption(new Option('--dialect <name>', 'wire format to use').choices(promptDialects))
    .option('--render', 'render Markdown on a terminal; a pipe gets the raw text')
    .option('--usage', 'print the token usage on stderr');
}

/** The part of a prompt that comes from options alone. */
export function askedOptions({ maxTokens, temperature, topP, stop, set }: PromptOptions) {
  return { maxTokens, temperature, topP, stop, fields: set } satisfies Partial<Prompt>;
}

/** The native dialect of a model with this name, so that no translation is needed. */
export function dialectFor(model: string): PromptDialect {
  return model.startsWith('claude') ? 'messages' : 'chat';
}

/**
 * The model that was named, else GATEWAY_MODEL, else the default of the running gateway, of gateway.yaml, or of the gateway
 * that is called. Reading the file and asking take too long for every prompt. Throws usage.invalid, with some of those that the key may use.
 */
export async function chooseModel(
  named: string | undefined,
  target: Awaited<ReturnType<typeof gatewayTarget>> | undefined,
  { options, io }: { readonly options: CommonOptions; readonly io: Io },
): Promise<string> {
  const known = named ?? (io.env.GATEWAY_MODEL || target?.defaultModel);
  if (known !== undefined) return known;
  // The folder's file may be about another gateway than the one that is called: then a fault in it stops nothing.
  const isElsewhere = target !== undefined && options.config === undefined && Boolean(io.env.GATEWAY_URL);
  const own = isElsewhere
    ? await usableDefault(options, io)
    : (await loadUserConfig(options, io)).config.defaultModel;
  if (own !== undefined) return own;
  const signal = deadline(io.signal, options.timeout);
  const asked = target === undefined ? undefined : await readModels(target, signal);
  if (asked?.defaultModel !== undefined) return asked.defaultModel;
  const some = (asked?.models ?? []).slice(0, 3).map(({ id }) => String(id));
  const such = some.length === 0 ? '' : `, such as ${listOf(some, 'or')}`;
  const message = 'name a model with -m, GATEWAY_MODEL or default_model in gateway.yaml';
  throw new GatewayError('usage.invalid', `${message}${such}; "gateway models" lists them`);
}

/** That of a file that is valid and allowed; without one nothing is known, as the sandbox's models are served nowhere else. */
async function usableDefault(options: CommonOptions, io: Io): Promise<string | undefined> {
  const loaded = await loadUserConfig({ ...options, input: false }, io).catch(() => undefined);
  return loaded?.path === undefined ? undefined : loaded.config.defaultModel;
}

function fromZero(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('expected a number from 0');
}

function share(text: string): number {
  const value = fromZero(text);
  if (value <= 1) return value;
  throw new InvalidArgumentError('expected a number from 0 to 1');
}

function collectText(text: string, before: readonly string[] = []): readonly string[] {
  if (text === '') throw new InvalidArgumentError('expected a text');
  return [...before, text];
}

function collectField(text: string, before: readonly PromptField[] = []): readonly PromptField[] {
  const [, name, value] = /^([A-Za-z][\w.-]*)=(.*)$/s.exec(text) ?? [];
  const path = name?.split('.') ?? [];
  if (value === undefined || path.includes('') || path.includes('__proto__')) {
    throw new InvalidArgumentError('expected name=value, such as seed=7 or reasoning.effort=low');
  }
  return [...before, { path, value: toValue(value) }];
}

/** Parsed if it is JSON, else the text. */
function toValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
