import { GatewayError } from '../../errors.ts';
import { commonHeaders, newRequestId, toList } from '../../http/respond.ts';
import { answerHeader, challengeHeader } from '../../owner-proof.ts';
import { isSame, Throttle } from '../access/sessions.ts';
import type { AccessAnswer, SessionAnswer } from '../contract/session.ts';
import {
  type Call,
  type Route,
  type RouteContext,
  readJson,
  securityHeaders,
  smallBodyBytes,
  textField,
} from './router.ts';

/** The routes that create and end sessions. */
export function sessionRoutes({ backend, sessions, ownerProof, events }: RouteContext): readonly Route[] {
  const throttle = new Throttle();
  const open = (call: Call): SessionAnswer => {
    const { cookie, token, expiresMs } = sessions.open();
    const answer: SessionAnswer = { token, expires: new Date(expiresMs).toISOString() };
    sendWithHeaders(call, 200, { 'set-cookie': cookie }, answer);
    return answer;
  };
  const leave = (call: Call, end: () => void) => {
    end();
    // Pages whose session has not ended come back by themselves.
    events.close();
    sendWithHeaders(call, 204, { 'set-cookie': sessions.endingCookie });
  };
  return [
    {
      method: 'GET',
      path: 'api/access',
      access: 'open',
      answer: (): AccessAnswer => ({
        password: backend.password() !== undefined,
        command: 'gateway open',
      }),
    },
    {
      method: 'POST',
      path: 'api/link',
      access: 'open',
      // For commands of the user who started the gateway: nobody else can read the state file with the proof.
      answer: (call) => {
        const challenge = call.request.header(challengeHeader) ?? '';
        if (ownerProof === undefined || !isSame(challenge, ownerProof.challenge)) {
          throw new GatewayError('session.invalid', 'this is not the user who started the gateway');
        }
        const { token, expiresMs } = sessions.issueLink();
        const answer = { token, expires: new Date(expiresMs).toISOString() };
        sendWithHeaders(call, 200, { [answerHeader]: ownerProof.answer }, answer);
      },
    },
    {
      method: 'POST',
      path: 'api/session',
      access: 'open',
      answer: async (call) => {
        const fields = await readJson(call, smallBodyBytes);
        const token = textField(fields, 'token');
        if (token !== undefined) {
          if (sessions.redeem(token)) return open(call);
          throw new GatewayError(
            'session.invalid',
            'this link was already used or has expired; "gateway open" prints a new one',
          );
        }
        const password = backend.password();
        throttle.check();
        if (password !== undefined && isSame(textField(fields, 'password') ?? '', password))
          return open(call);
        throttle.noteFailure();
        throw new GatewayError('session.invalid', 'this is not the password');
      },
    },
    {
      method: 'DELETE',
      path: 'api/session',
      access: 'session',
      answer: (call) => leave(call, () => sessions.end(call.request)),
    },
    {
      method: 'DELETE',
      path: 'api/sessions',
      access: 'session',
      answer: (call) => leave(call, () => sessions.endAll()),
    },
  ];
}

function sendWithHeaders(
  { response }: Call,
  status: number,
  headers: Readonly<Record<string, string>>,
  value?: unknown,
): void {
  const body = Buffer.from(value === undefined ? '' : JSON.stringify(value));
  const type =
    value === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(body.length) };
  response.writeHead(
    status,
    toList({ ...commonHeaders(newRequestId()), ...securityHeaders, ...headers, ...type }),
  );
  response.end(body);
}
