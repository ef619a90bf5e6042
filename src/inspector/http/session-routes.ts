import { GatewayError } from '../../errors.ts';
import { toList } from '../../http/respond.ts';
import { answerHeader, challengeHeader } from '../../owner-proof.ts';
import { isSame, Throttle } from '../access/sessions.ts';
import type { AccessAnswer, SessionAnswer } from '../contract/actions.ts';
import { type Access, type Call, type RouteContext, readJson, smallBodyBytes, textField } from './router.ts';

/** The routes that create and end sessions. */
export function sessionRoutes({ config, sessions, ownerProof, events }: RouteContext): Access {
  const throttle = new Throttle();
  const open = (call: Call) => {
    const { cookie, token } = sessions.open();
    call.send({ token } satisfies SessionAnswer, { 'set-cookie': cookie });
  };
  const leave = (call: Call, end: () => void) => {
    end();
    // Pages whose session has not ended come back by themselves.
    events.close();
    call.response.writeHead(204, toList({ ...call.headers, 'set-cookie': sessions.endingCookie }));
    call.response.end();
  };
  return {
    open: {
      'GET api/access': (): AccessAnswer => ({ password: config().inspector.password !== undefined }),
      // For commands of the user who started the gateway: nobody else can read the state file with the proof.
      'POST api/link': (call) => {
        const challenge = call.request.header(challengeHeader) ?? '';
        if (ownerProof === undefined || !isSame(challenge, ownerProof.challenge)) {
          throw new GatewayError('session.invalid', 'this is not the user who started the gateway');
        }
        call.send({ token: sessions.issueLink() }, { [answerHeader]: ownerProof.answer });
      },
      'POST api/session': async (call) => {
        const fields = await readJson(call, smallBodyBytes);
        const token = textField(fields, 'token');
        if (token !== undefined) {
          if (sessions.redeem(token)) return open(call);
          throw new GatewayError(
            'session.invalid',
            'this link was already used or has expired; "gateway open" prints a new one',
          );
        }
        const { password } = config().inspector;
        throttle.check();
        if (password !== undefined && isSame(textField(fields, 'password') ?? '', password))
          return open(call);
        throttle.noteFailure();
        throw new GatewayError('session.invalid', 'this is not the password');
      },
    },
    session: {
      'DELETE api/session': (call) => leave(call, () => sessions.end(call.request)),
      'DELETE api/sessions': (call) => leave(call, () => sessions.endAll()),
    },
  };
}
