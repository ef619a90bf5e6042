import { hasModel } from '../../dialects/model-path.ts';
import { recordedTarget } from '../../dialects/registry.ts';
import { GatewayError } from '../../errors.ts';
import { flattenHeaders } from '../../http/respond.ts';
import { answerHeader, challengeHeader } from '../../lib/owner-proof.ts';
import { isSameSecret, PageThrottle } from '../access/sessions.ts';
import type {
  AccessResponse,
  KeepBodiesResponse,
  SendAgainResponse,
  SessionResponse,
  TryPolicyResponse,
} from '../contract/actions.ts';
import type { AgentSession, AgentSessionDetail, AgentSessionList } from '../contract/agent-sessions.ts';
import type { ListResponse } from '../contract/exchange-list.ts';
import { meaningfulHeaders, requireBody, toCurl, toFixture } from '../detail/curl.ts';
import { locate } from '../detail/locate.ts';
import { toDetail } from '../detail/to-detail.ts';
import type { Ring, RingEntry } from '../ring/ring.ts';
import { hideTokens, toRow } from '../ring/to-row.ts';
import {
  type Access,
  type PageRequest,
  type RouteContext,
  readPageJson,
  requestBodyBytes,
  smallBodyBytes,
  textField,
} from './router.ts';
import { createPageFiles, type PageFile, sendFile } from './serve-page.ts';

/** Throws inspector.unknown, inspector.not_kept, and any reason for which the request can't be sent. */
async function sendAgain(call: PageRequest, { ring, backend }: RouteContext): Promise<SendAgainResponse> {
  const fields = await readPageJson(call, requestBodyBytes);
  const entry = findEntry(ring, textField(fields, 'id') ?? '');
  const { path, key, model: named } = entry.soFar;
  if (path === undefined || key === undefined) {
    throw new GatewayError(
      'inspector.not_kept',
      'this exchange had no key that is known here, so it cannot be sent again',
    );
  }
  const given = textField(fields, 'body');
  const text = given ?? requireBody(entry).toString();
  const model = textField(fields, 'model');
  const isInBody = model !== undefined && !hasModel({ path });
  const body = Buffer.from(isInBody ? withModel(text, model) : text);
  const target = recordedTarget({ path, model: model ?? named });
  const sent = await backend.sendAgain({ target, key, headers: meaningfulHeaders(entry), body });
  const again = ring.find(sent.id);
  if (again !== undefined) {
    again.again = entry.id;
    ring.changed(again);
  }
  return sent;
}

/** Replaces only the characters of the model's name, as for configured aliases. */
function withModel(text: string, model: string): string {
  const range = locate(text, ['/model']).get('/model');
  if (range === undefined) {
    throw new GatewayError('request.field', 'the body has no model that could be replaced', {
      param: '/model',
    });
  }
  return text.slice(0, range.start) + JSON.stringify(model) + text.slice(range.end);
}

/** Size limit of a scratch copy, and of the request that it is tried on. */
const maxScratchBytes = 1024 * 1024;
/** Both of them, escaped as JSON strings. */
const scratchBodyBytes = 16 * maxScratchBytes;

/** Throws request.too_large, inspector.busy. */
async function tryPolicy(call: PageRequest, { backend }: RouteContext): Promise<TryPolicyResponse> {
  const fields = await readPageJson(call, scratchBodyBytes);
  const policies = textField(fields, 'policies') ?? '';
  const body = Buffer.from(textField(fields, 'body') ?? '');
  if (policies.length > maxScratchBytes || body.length > maxScratchBytes) {
    throw new GatewayError('request.too_large', 'rules and request may be at most a megabyte each');
  }
  return backend.tryPolicy(policies, {
    body,
    endpoint: textField(fields, 'endpoint'),
    key: textField(fields, 'key'),
    atMs: Date.now(),
  });
}

const maxViewers = 100;
const hourMs = 3_600_000;
const maxHistoryHours = 24 * 400;

/** What a browser gets at the gateway's own address. */
const welcome: PageFile = {
  type: 'text/html; charset=utf-8',
  bytes: Buffer.from(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>gateway</title>
<link rel="icon" href="/_/assets/icon.svg"><link rel="stylesheet" href="/_/assets/page.css">
<main class="sign-in"><h1>gateway</h1>
<p>This is the address for applications: their base URL. <a href="/_/">The live page</a> shows what they send.</p>
</main></html>
`),
};

/** Everything below `/_/`. */
export function routesOf(context: RouteContext): Access {
  const { backend, ring, now } = context;
  const files = createPageFiles();
  const sessions = sessionRoutes(context);
  const entryOf = ({ parameter }: PageRequest) => findEntry(ring, parameter);
  return {
    open: {
      'GET ': async (call) => sendFile(call, await files('index.html')),
      'GET /': (call) => sendFile(call, welcome),
      'GET assets/:id': async (call) => sendFile(call, await files(`assets/${call.parameter}`)),
      ...sessions.open,
    },
    session: {
      'GET api/exchanges': () => list(context),
      'GET api/exchanges/:id': (call) => toDetail(entryOf(call), backend),
      'GET api/exchanges/:id/test': (call) => toFixture(entryOf(call), backend.scrub),
      'GET api/exchanges/:id/curl': (call) =>
        toCurl(entryOf(call), `http://${call.request.header('host')}`, backend.scrub),
      'GET api/events': (call) => follow(call, context),
      'GET api/now': now,
      'GET api/history': (call) => history(call, context),
      'GET api/agent-sessions': (call) => agentSessions(call, context),
      'GET api/agent-session': (call) => agentSession(call, context),
      'POST api/keep-bodies': (call) => keepBodies(call, context),
      'POST api/send-again': (call) => sendAgain(call, context),
      'GET api/policies': backend.policies,
      'POST api/try-policy': (call) => tryPolicy(call, context),
      ...sessions.session,
    },
  };
}

/** The routes that create and end sessions. */
function sessionRoutes({ config, sessions, ownerProof, events }: RouteContext): Access {
  const throttle = new PageThrottle();
  const open = (call: PageRequest) => {
    const { cookie, token } = sessions.open();
    call.send({ token } satisfies SessionResponse, { 'set-cookie': cookie });
  };
  const leave = (call: PageRequest, end: () => void) => {
    end();
    // Pages whose session has not ended come back by themselves.
    events.close();
    call.response.writeHead(204, flattenHeaders({ ...call.headers, 'set-cookie': sessions.endingCookie }));
    call.response.end();
  };
  return {
    open: {
      'GET api/access': (): AccessResponse => ({ password: config().inspector.password !== undefined }),
      // For commands of the user who started the gateway: no other user can read the state file with the proof.
      'POST api/link': (call) => {
        const challenge = call.request.header(challengeHeader) ?? '';
        if (ownerProof === undefined || !isSameSecret(challenge, ownerProof.challenge)) {
          throw new GatewayError('session.invalid', 'this is not the user who started the gateway');
        }
        call.send({ token: sessions.issueLink() }, { [answerHeader]: ownerProof.answer });
      },
      'POST api/session': async (call) => {
        const fields = await readPageJson(call, smallBodyBytes);
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
        if (password !== undefined && isSameSecret(textField(fields, 'password') ?? '', password))
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

function findEntry(ring: Ring, id: string): RingEntry {
  const entry = ring.find(id);
  if (entry !== undefined) return entry;
  throw new GatewayError('inspector.unknown', 'this exchange is no longer kept, or never was');
}

function list({ backend, ring, events }: RouteContext): ListResponse {
  const cursor = events.cursor();
  return { rows: ring.entries().map((entry) => toRow(entry, backend.scrub)), cursor };
}

function follow({ request, response, headers }: PageRequest, { events }: RouteContext): void {
  // Its stream would send nothing and never end.
  if (request.method === 'HEAD') {
    throw new GatewayError('method.not_allowed', 'this path takes GET only', { headers: { allow: 'GET' } });
  }
  if (events.count >= maxViewers) {
    throw new GatewayError('inspector.busy', 'too many pages are open', { retryAfterS: 15 });
  }
  events.add(response, flattenHeaders(headers), request.header('last-event-id'));
}

function history({ query }: PageRequest, { backend }: RouteContext): unknown {
  const by = query.get('by') ?? 'hour';
  if (by !== 'hour' && by !== 'day') throw new GatewayError('request.field', 'expected by=hour or day');
  return backend.history(by, sinceOf(query, '24h'));
}

/** In milliseconds since 1970. */
function sinceOf(query: URLSearchParams, usual: string): number {
  const [, amount = '', unit] = /^(\d{1,4})([hd])$/.exec(query.get('since') ?? usual) ?? [];
  const hours = Number(amount) * (unit === 'd' ? 24 : 1);
  if (unit === undefined || hours === 0 || hours > maxHistoryHours)
    throw new GatewayError('request.field', 'expected since as 24h or 7d, at most 400d');
  return Date.now() - hours * hourMs;
}

async function agentSessions({ query }: PageRequest, { backend }: RouteContext): Promise<AgentSessionList> {
  const { sessions, has_more } = await backend.agentSessions(sinceOf(query, '7d'));
  return { sessions: sessions.map((each) => cleaned(each, backend.scrub)), has_more };
}

async function agentSession({ query }: PageRequest, { backend }: RouteContext): Promise<AgentSessionDetail> {
  const found = await backend.agentSession(query.get('session') ?? '', query.get('key') ?? '');
  const turns = found.turns.map((turn) => {
    const { model, subagent, parent } = turn;
    return {
      ...turn,
      model: clean(model, backend.scrub),
      subagent: subagent && clean(subagent, backend.scrub),
      parent: parent && clean(parent, backend.scrub),
    };
  });
  return { session: cleaned(found.session, backend.scrub), turns };
}

function cleaned(session: AgentSession, scrub: (text: string) => string): AgentSession {
  return { ...session, session: clean(session.session, scrub) };
}

/** What clients can put a key into by mistake. */
function clean(text: string, scrub: (text: string) => string): string {
  return scrub(hideTokens(text));
}

const maxMinutes = 60;
const usualMinutes = 10;

async function keepBodies(call: PageRequest, { ring }: RouteContext): Promise<KeepBodiesResponse> {
  const { minutes = usualMinutes, forget } = await readPageJson(call, smallBodyBytes);
  if (typeof minutes !== 'number' || !(minutes >= 0 && minutes <= maxMinutes)) {
    throw new GatewayError('request.field', `minutes: expected a number from 0 to ${maxMinutes}`, {
      param: '/minutes',
    });
  }
  ring.keepBodiesFor(minutes);
  if (forget === true) ring.forgetBodies();
  return ring.keeping;
}
