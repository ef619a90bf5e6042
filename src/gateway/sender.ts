import { parseKey } from '../config/build/keys.ts';
import { isFields } from '../dialects/fields.ts';
import type { HttpRequest } from '../http/request.ts';
import type { JsonDocument } from '../json/json-document.ts';
import { memoize } from '../lib/memoize.ts';
import type { Run } from '../lib/run-key.ts';
import { clientNames } from '../policy/matchers/client-names.ts';
import type { ModelEndpoint } from './endpoints.ts';

/** Agents whose requests are recognized. */
export type AgentName = (typeof clientNames)[number];

/**
 * Who sent a request, as far as its client says so. A client may say anything, so this only groups requests of one key:
 * limits of sessions only narrow those of the key, the form of a refusal depends on the agent (refuse.ts), and rules and
 * routes look at it only where the configuration's `client`, `class` or `session` says so. The same session of another
 * key is another session.
 */
export interface Sender {
  readonly agent?: AgentName;
  /** The id of the conversation that the request belongs to. */
  readonly session?: string;
  /** The id of the agent within the session; absent for its main one. */
  readonly subagent?: string;
  /** What started the subagent: another agent, thread or session. */
  readonly parent?: string;
  /** What the request is for, in the agent's own words, such as `main`, `subagent` or `compaction`. */
  readonly request_class?: string;
  /** The id of the user's prompt that the request serves. */
  readonly prompt?: string;
  /** The id of the `gateway run` that started the agent, as its key names it. */
  readonly run?: string;
}

type Id = Exclude<keyof Sender, 'agent' | 'run'>;

interface AgentMark {
  readonly agent: AgentName;
  readonly header: 'originator' | 'user-agent' | 'x-interaction-type';
  readonly value: RegExp;
}

const marks: readonly AgentMark[] = [
  { agent: 'claude', header: 'user-agent', value: /^claude-cli\// },
  { agent: 'codex', header: 'originator', value: /^codex/ },
  { agent: 'opencode', header: 'user-agent', value: /^opencode\// },
  { agent: 'gemini', header: 'user-agent', value: /^GeminiCLI[/-]/ },
  { agent: 'qwen', header: 'user-agent', value: /^QwenCode\// },
  // Copilot CLI, whose user-agent is its SDK's.
  { agent: 'copilot', header: 'x-interaction-type', value: /^conversation-/ },
];

interface SenderSource {
  readonly id: Id;
  readonly header: string;
  /** Only if this header is there too. */
  readonly with?: string;
}

/** The headers that name an id, the first that is there wins. docs/sessions.md has the source and date of each. */
const sources: readonly SenderSource[] = [
  { id: 'session', header: 'x-gateway-session' },
  { id: 'session', header: 'x-claude-code-session-id' },
  { id: 'session', header: 'session-id' },
  { id: 'session', header: 'session_id' },
  { id: 'session', header: 'conversation_id' },
  { id: 'session', header: 'x-session-id' },
  { id: 'session', header: 'x-session-affinity' },
  { id: 'session', header: 'thread-id' },
  { id: 'subagent', header: 'x-claude-code-agent-id' },
  // A thread of Codex is the session's main one unless it names another one that started it.
  { id: 'subagent', header: 'thread-id', with: 'x-codex-parent-thread-id' },
  { id: 'parent', header: 'x-claude-code-parent-agent-id' },
  { id: 'parent', header: 'x-codex-parent-thread-id' },
  { id: 'parent', header: 'x-parent-session-id' },
  { id: 'request_class', header: 'x-claude-code-request-class' },
  { id: 'request_class', header: 'x-openai-subagent' },
  { id: 'prompt', header: 'x-claude-code-prompt-id' },
];

/**
 * What an id may look like. Any other is ignored rather than cut: two that are cut could become one. A header that comes
 * twice is a list with a space in it, and so is ignored too.
 */
const fit = /^[\w.:+/=@-]{1,128}$/;

export function agentOf(request: Pick<HttpRequest, 'header'>): AgentName | undefined {
  return marks.find(({ header, value }) => value.test(request.header(header) ?? ''))?.agent;
}

/** What the head and its key, by the `runs` that it names, say; `withBody` adds what only a body has. */
export function readSender(
  request: Pick<HttpRequest, 'header' | 'rawHeaders'>,
  [run]: readonly Run[] = [],
): Sender {
  const sender: { -readonly [Name in keyof Sender]: Sender[Name] } = {};
  if (run !== undefined) sender.run = run.id;
  const agent = agentOf(request);
  if (agent !== undefined) sender.agent = agent;
  if (!hasSource(request)) return sender;
  for (const { id, header, with: other } of sources) {
    if (sender[id] !== undefined) continue;
    const value = request.header(header);
    if (value === undefined || (other !== undefined && request.header(other) === undefined)) continue;
    if (isFit(value)) sender[id] = value;
  }
  return sender;
}

const isSource = memoize((name) => sources.some(({ header }) => header === name.toLowerCase()));
const lengths = new Set(sources.map(({ header }) => header.length));

/** A quick no for the requests of most programs: they need no search for each header by its name. */
function hasSource({ rawHeaders }: Pick<HttpRequest, 'rawHeaders'>): boolean {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (lengths.has(name.length) && isSource(name)) return true;
  }
  return false;
}

/** The sender with the session that its body names, if its head names none. */
export function withBody(
  sender: Sender,
  document: JsonDocument,
  { dialectName }: Pick<ModelEndpoint, 'dialectName'>,
): Sender {
  if (sender.session !== undefined) return sender;
  const session = sessionIn(document, { ...sender, dialectName });
  return session === undefined || !isFit(session) ? sender : { ...sender, session };
}

function sessionIn(
  document: JsonDocument,
  { dialectName, agent }: Pick<ModelEndpoint, 'dialectName'> & Pick<Sender, 'agent'>,
): string | undefined {
  if (dialectName === 'messages') {
    const metadata = document.member(document.root, 'metadata');
    return metadata === undefined ? undefined : sessionOfUser(document.memberText(metadata, 'user_id') ?? '');
  }
  // Other programs use one key for many conversations.
  return agent === 'codex' ? document.memberText(document.root, 'prompt_cache_key') : undefined;
}

/** Longer than any that an agent writes. */
const maxUserLength = 1_024;

/** Claude Code writes `user_…_session_ID`, and since 2026 JSON with the member `session_id`. */
function sessionOfUser(user: string): string | undefined {
  if (user.length > maxUserLength) return undefined;
  if (!user.startsWith('{')) return /_session_([\w-]+)$/.exec(user)?.[1];
  try {
    const value: unknown = JSON.parse(user);
    return isFields(value) && typeof value.session_id === 'string' ? value.session_id : undefined;
  } catch {
    return undefined; // another program's
  }
}

/** No record may have a project key, wherever a client puts it. */
function isFit(value: string): boolean {
  return fit.test(value) && parseKey(value) === 'other';
}

/** The sender that a record names. */
export function senderIn({ agent, session, request_class }: SenderFields): Sender {
  const name = clientNames.find((each) => each === agent);
  return {
    ...(name !== undefined && { agent: name }),
    ...(typeof session === 'string' && { session }),
    ...(typeof request_class === 'string' && { request_class }),
  };
}

type SenderFields = { readonly [Name in 'agent' | 'session' | 'request_class']?: unknown };

/** Whether nothing is known of who sent a request, as of most programs that are no agents. */
export function isUnknown(sender: Sender): boolean {
  for (const _ in sender) return false;
  return true;
}

/** The sender without the ids that `isHidden`. */
export function withoutHidden(sender: Sender, isHidden: (id: string) => boolean): Sender {
  const kept = Object.entries(sender).filter(([name, value]) => name === 'agent' || !isHidden(value));
  return kept.length === Object.keys(sender).length ? sender : Object.fromEntries(kept);
}
