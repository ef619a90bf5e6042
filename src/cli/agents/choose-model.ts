import { join } from 'node:path';
import type { AgentModels } from '../../client/address.ts';
import type { GatewayAddress } from '../../client/call.ts';
import { getJson } from '../../client/gateway.ts';
import { logins } from '../../config/source/logins.ts';
import { toFields, toText } from '../../dialects/fields.ts';
import { GatewayError } from '../../errors.ts';
import type { Io } from '../shell/io.ts';
import { codexHome, readSettingsFile } from '../shell/read-settings.ts';
import { type ClientName, clientOf, type ModelLimits, qwenModel } from './clients.ts';

interface Choice {
  readonly name: ClientName;
  /** By option, variable or configuration. */
  readonly models: AgentModels;
  /** Whether the agent's own arguments name a model, which is then unknown here. */
  readonly isOwn: boolean;
  /** The configuration's `default_model`. */
  readonly defaultModel: string | undefined;
  readonly signal: AbortSignal;
}

/** Undefined models are the agent's own choice. */
interface ChosenModels {
  readonly models: AgentModels;
  /** What a person should know before the agent starts. */
  readonly notices: readonly string[];
}

/**
 * The models for an agent to ask for: what was named, else its own if the gateway serves that, else `default_model`. Says
 * so if that is another than the agent's own, and if nothing serves what the agent will ask for.
 */
export async function chooseModels(address: GatewayAddress, choice: Choice, io: Io): Promise<ChosenModels> {
  const { name, models, isOwn, signal } = choice;
  const ids = [...new Set(Object.values(models))].filter((each) => each !== undefined);
  const ofNamed = await Promise.all(ids.map(async (id) => fault(id, await findModel(address, id, signal))));
  const notices = ofNamed.flatMap((each) => (each === undefined ? [] : [`${each}; ${remedy}`]));
  if (models.main !== undefined || isOwn) return { models, notices };
  const own = await ownModels(name, io);
  const entries = await Promise.all(own.map((id) => findModel(address, id, signal)));
  // An agent with several vendors takes what there is.
  const faults = own.map((id, i) => fault(id, entries[i]));
  const [first] = faults;
  if (first === undefined || faults.includes(undefined)) return { models, notices };
  const other = entries.every((entry) => entry === undefined) ? choice.defaultModel : undefined;
  if (other !== undefined) {
    return {
      models: { ...models, main: other },
      notices: [...notices, `${first}, so ${name} is to use default_model: ${other}`],
    };
  }
  return {
    models,
    notices: [...notices, `${first}, which ${name} asks for: gateway run -m MODEL ${name}, or ${remedy}`],
  };
}

/** The configuration's models fill in what was not asked for, where the agent has such a role. */
export function modelsFor(
  name: ClientName,
  asked: AgentModels,
  { isOwn, named }: { readonly isOwn: boolean; readonly named: AgentModels },
): AgentModels {
  const { roles = [] } = clientOf(name);
  return {
    main: asked.main ?? (isOwn ? undefined : named.main),
    ...(roles.includes('small') && { small: asked.small ?? named.small }),
    ...(roles.includes('thinking') && { thinking: asked.thinking ?? named.thinking }),
  };
}

const remedy = '"gateway models" lists what is served';

function fault(id: string, entry: Readonly<Record<string, unknown>> | undefined): string | undefined {
  if (entry === undefined) return `nothing serves ${id}`;
  const isKeyless = entry.status === 'unconfigured';
  return isKeyless
    ? `provider ${entry.owned_by}, which serves ${id}, lacks its key ("gateway doctor")`
    : undefined;
}

/** What the agent asks for if it isn't told; of the newest versions' names one that every pattern for them matches. */
async function ownModels(name: ClientName, io: Io): Promise<readonly string[]> {
  if (name === 'claude') return [io.env.ANTHROPIC_MODEL || logins.claude.model];
  if (name === 'gemini') return [io.env.GEMINI_MODEL || 'gemini-2.5-pro'];
  if (name === 'copilot') return [io.env.COPILOT_MODEL || logins.codex.model];
  if (name === 'qwen') return [io.env.OPENAI_MODEL || qwenModel];
  if (name === 'opencode') return [logins.claude.model, logins.codex.model];
  const { parse } = await import('smol-toml');
  const { value } = readSettingsFile(join(codexHome(io.env), 'config.toml'), parse);
  return [toText(toFields(value).model) || logins.codex.model];
}

/**
 * Asks the gateway about a model; empty if nothing is known, or for a name that only a pattern matches. Throws
 * gateway.unreachable, key.invalid and any other error of the gateway.
 */
export async function readModelLimits(
  address: GatewayAddress,
  model: string | undefined,
  signal: AbortSignal,
): Promise<ModelLimits> {
  // The list may have to wait for those of the hosts.
  if (model === undefined) return {};
  const { data } = toFields(await getJson(address, '/v1/gateway/models', signal));
  const models = Array.isArray(data) ? data.map(toFields) : [];
  const { context_window, max_output_tokens } = models.find(({ id }) => id === model) ?? {};
  return {
    ...(typeof context_window === 'number' && { contextWindow: context_window }),
    ...(typeof max_output_tokens === 'number' && { maxOutputTokens: max_output_tokens }),
  };
}

/**
 * The gateway's entry for a model by any name; undefined if it serves none for this key. Throws any other error of
 * the gateway.
 */
export async function findModel(
  address: GatewayAddress,
  id: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    return toFields(await getJson(address, `/v1/models/${encodeURIComponent(id)}`, signal));
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'model.unknown') return undefined;
    throw error;
  }
}
