import { GatewayError } from '../../errors.ts';
import type { HttpRequest } from '../../http/request.ts';
import { isLoopbackHost } from '../../lib/loopback.ts';
import { sessionSeconds, type UserSessions } from '../accounts/sessions.ts';
import { maxima } from '../contract/schemas.ts';
import { badField, parseFields } from '../plant/plant.ts';
import { findSessionToEnd, refuseForeignPage, requireSession } from './identity.ts';
import { type Handlers, jsonAnswer, type OperationRequest, type OperationResponse } from './operation.ts';
import { parseQuery, readPlantJson, single } from './request.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

interface Parts {
  readonly sessions: UserSessions;
  readonly logIn: (credentials: Credentials, address: string) => Promise<string>;
  /** Called for every session that ends here. */
  readonly onLogout: (tokenHash: string) => void;
}

export function userHandlers({ sessions, logIn, onLogout }: Parts) {
  const open = async (
    { request }: OperationRequest,
    credentials: Credentials,
  ): Promise<OperationResponse> => {
    const token = await logIn(credentials, request.remoteAddress);
    return jsonAnswer(
      { token, expiresIn: sessionSeconds },
      { 'set-cookie': cookie(token, sessionSeconds, request) },
    );
  };
  return {
    loginUser: (call) => {
      // An image in another page must not log its visitor in as somebody else, nor use up the visitor's attempts.
      refuseForeignPage(call.request);
      const query = parseQuery(call.query);
      const [username, password] = [single(query, 'username'), single(query, 'password')];
      return open(call, parseCredentials({ username, password }));
    },
    loginUserWithBody: async (call) => {
      refuseForeignPage(call.request);
      return open(call, parseCredentials(await readPlantJson(call.request, call.response)));
    },
    logoutUser: async ({ request }) => {
      const session = await findSessionToEnd(request, sessions);
      if (session !== undefined) {
        await sessions.revoke(session.tokenHash);
        onLogout(session.tokenHash);
      }
      return jsonAnswer({ status: 'logged out' }, { 'set-cookie': cookie('', 0, request) });
    },
    getUserByName: async ({ request, parameter }) => {
      const { user } = await requireSession(request, sessions);
      const name = parseName(parameter);
      if (name === '@me' || name.toLowerCase() === user.username.toLowerCase()) return jsonAnswer(user);
      // Don't reveal whether other users exist.
      throw new GatewayError('user.unknown', 'there is no such user, or not for you to see');
    },
  } satisfies Partial<Handlers>;
}

function parseCredentials(value: unknown): Credentials {
  const { username, password } = parseFields(value, ['username', 'password']);
  return { username: parseField('username', username), password: parseField('password', password) };
}

function parseField(name: string, value: unknown): string {
  if (value === undefined || value === '') throw badField(name, 'is missing');
  if (typeof value !== 'string') throw badField(name, 'must be text');
  if (value.length > maxima.login) throw badField(name, `is longer than ${maxima.login} characters`);
  return value;
}

function parseName(parameter: string): string {
  try {
    return decodeURIComponent(parameter);
  } catch (cause) {
    throw new GatewayError('request.field', 'username has a broken %-escape', { param: 'username', cause });
  }
}

function cookie(token: string, seconds: number, request: HttpRequest): string {
  const host = (request.header('host') ?? '').replace(/:\d+$/, '');
  const attributes = `Path=/v3; HttpOnly; SameSite=Strict; Max-Age=${seconds}`;
  return `session=${token}; ${attributes}${isLoopbackHost(host) ? '' : '; Secure'}`;
}
