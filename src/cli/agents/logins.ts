import { homedir } from 'node:os';
import { join } from 'node:path';
import type { GatewayAddress } from '../../client/call.ts';
import { type LoginAgent, logins, type WantedLogin } from '../../config/source/logins.ts';
import { isFields, toFields } from '../../dialects/fields.ts';
import { GatewayError } from '../../errors.ts';
import type { Io } from '../shell/io.ts';
import { codexHome, readSettingsFile } from '../shell/read-settings.ts';
import { findModel } from './choose-model.ts';
import type { ClientName } from './clients.ts';

function isLoginAgent(name: string): name is LoginAgent {
  return Object.hasOwn(logins, name);
}

/** Whether the agent is logged in to a subscription, as far as files show it; macOS keeps Claude's in its keychain. */
export function isLoggedIn(agent: LoginAgent, { env }: Pick<Io, 'env'>): boolean {
  if (agent === 'codex') {
    const { tokens } = shapeOf(join(codexHome(env), 'auth.json'));
    return isFields(tokens);
  }
  const home = env.HOME || homedir();
  if ((env.CLAUDE_CODE_OAUTH_TOKEN ?? '') !== '') return true;
  const { claudeAiOauth } = shapeOf(
    join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), '.credentials.json'),
  );
  const { oauthAccount } = shapeOf(join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'));
  return isFields(claudeAiOauth) || (process.platform === 'darwin' && isFields(oauthAccount));
}

/** The members of a file, with every text left out: nothing here ever holds a token. */
function shapeOf(file: string): Readonly<Record<string, unknown>> {
  const withoutTexts = (_name: string, value: unknown) => (typeof value === 'string' ? '' : value);
  return toFields(readSettingsFile(file, (text) => JSON.parse(text, withoutTexts)).value);
}

interface RunOptions {
  readonly model: string | undefined;
  /** Whether --login was given. */
  readonly isForced: boolean;
}

/** The login that an agent is to use, where it has one. Throws usage.invalid for --login with another agent. */
export function wantedLogin(
  name: ClientName,
  { model, isForced }: RunOptions,
  io: Pick<Io, 'env'>,
): WantedLogin | undefined {
  if (!isLoginAgent(name)) {
    if (!isForced) return undefined;
    throw new GatewayError('usage.invalid', `--login is for ${Object.keys(logins).join(' and ')}`);
  }
  return isForced || isLoggedIn(name, io) ? { agent: name, model, isForced } : undefined;
}

/**
 * Whether the gateway sends this agent's requests with the client's own login. Throws agent.failed if it does not although
 * --login asks for it, gateway.unreachable and key.invalid.
 */
export async function usesLogin(
  address: GatewayAddress,
  { name, model, isForced, signal }: RunOptions & { readonly name: ClientName; readonly signal: AbortSignal },
): Promise<boolean> {
  if (!isLoginAgent(name)) return false;
  const id = model ?? logins[name].model;
  const entry = await findModel(address, id, signal);
  const takesLogin = entry?.credentials === 'client';
  if (takesLogin || !isForced) return takesLogin;
  throw new GatewayError(
    'agent.failed',
    `the gateway at ${address.url} does not send ${id} with your own login: give its provider credentials: client (docs/subscriptions.md)`,
  );
}
