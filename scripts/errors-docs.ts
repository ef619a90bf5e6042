import { type Failure, type FailureCode, failures } from '../src/errors.ts';

/** docs/errors.md, made from the table of failures. `npx vitest run test/errors-docs.test.ts -u` writes it. */
export function renderErrorsDocs(): string {
  const rows = Object.entries<Failure>(failures).map(([code, failure]) => {
    const [meaning, remedy] = explanations[code as FailureCode]; // the keys of one table
    const status = isOfCommands(code) ? '–' : String(failure.status);
    const retry = failure.retry ? 'yes' : 'no';
    return `| \`${code}\` | ${status} | ${failure.exit} | ${retry} | ${meaning} | ${remedy} |`;
  });
  return `${introduction}\n${rows.join('\n')}\n`;
}

const introduction = `# Errors

<!-- Made from src/errors.ts and scripts/errors-docs.ts: npx vitest run test/errors-docs.test.ts -u -->

Every error of the gateway, of the plant store and of the commands has a code: \`error.reason\` in an answer, in a record
and with \`-o json\`. A rule may have a \`reason\` of its own in place of \`policy.blocked\`. The status is that of the
answer (some agents are sent another: [agents.md](agents.md)); the exit code is that of a command that ends with it. Where
a retry can't help, the answer has \`x-should-retry: false\`.

Besides the reasons of your own rules, a refusal with the code \`policy.blocked\` has one of these where no rule of yours
has decided: \`content.gateway_key\` (the request holds a project key, or a secret of the configuration),
\`content.client_credential\` (it holds the client's own login, or a project key of [a form of its own](keys.md#a-key-of-your-own-form)), \`content.opaque\` and \`content.unseen_reference\` (what
\`opaque_content\` and \`unseen_references\` forbid), \`content.unreadable\` (a text that can't be read as what it says it is),
\`content.unredactable\` (a match that can't be replaced where it stands), \`content.stored_conversation\` (a conversation at
the provider, whose placeholders nobody could restore), \`policy.default\` (no rule allows it, and \`default: deny\`).

| code | status | exit | retry helps | meaning | what to do |
|---|---|---|---|---|---|`;

/** Failures that no server answers with. */
function isOfCommands(code: string): boolean {
  return commandsOnly.has(code);
}

const commandsOnly: ReadonlySet<string> = new Set<FailureCode>([
  'usage.invalid',
  'config.invalid',
  'config.untrusted',
  'answer.mismatch',
  'output.failed',
  'port.busy',
  'drain.incomplete',
  'doctor.errors',
  'agent.missing',
  'agent.failed',
  'gateway.unreachable',
  'store.unreachable',
  'client.left',
  'interrupted',
  'terminated',
  'policy.mismatch',
  'log.unknown',
  'key.unknown',
]);

const explanations: Readonly<Record<FailureCode, readonly [meaning: string, remedy: string]>> = {
  'request.invalid_json': ['the body is not JSON', 'correct the body'],
  'request.duplicate_key': ['an object of the body has a key twice', 'send each key once; `param` names it'],
  'request.too_deep': ['the body is nested too deeply', 'send a flatter body'],
  'request.encoding': [
    'the body is not UTF-8, or not encoded as it says',
    'send UTF-8, and the right `Content-Encoding`',
  ],
  'request.framing': [
    'the request is not well-formed HTTP/1.1',
    'use another HTTP client, or look at the proxy in between',
  ],
  'request.field': ['a field has a wrong value', '`param` names the field'],
  'request.unsupported': [
    'the request asks for what the provider of this model has no equivalent for',
    'leave out the field in `param`, or use a model of the same API',
  ],
  'request.thread_unsupported': [
    'the conversation is stored elsewhere, where no rule can read it',
    'send the whole conversation',
  ],
  'request.media_type': [
    'the body is no JSON by its `Content-Type`',
    'send `Content-Type: application/json`',
  ],
  'request.expectation': ['the `Expect` header is not `100-continue`', 'leave it out'],
  'request.headers_too_large': [
    'the request head is too large',
    'send smaller headers, or raise `server.limits.head_size`',
  ],
  'request.too_large': ['the body is too large', 'send less, or raise `server.limits.body_size`'],
  'request.timeout': ['the request came too slowly', 'send it again; see `server.limits` for slow networks'],
  'key.missing': ['no project key came with the request', 'send one, as `gateway env CLIENT` sets it'],
  'key.invalid': [
    'the gateway does not know the key',
    "check it, and that it is the gateway's and not the provider's",
  ],
  'key.expired': ['the key has expired', 'ask for a new one (`gateway key new`)'],
  'key.conflict': ['the request has two different keys or logins', 'send one'],
  'policy.blocked': [
    'a rule refuses the request or the answer',
    'the message names the rule, `param` the place; `gateway policy explain` tries it',
  ],
  'policy.error': ['a rule could not be evaluated, so the request is refused', 'the log has the cause'],
  'policy.mismatch': [
    '`policy test` or `replay` decides otherwise than expected',
    'correct the rules or the expectation',
  ],
  'model.not_allowed': [
    'the project may not use the model',
    "use another, or add it to the project's `models`",
  ],
  'origin.not_allowed': [
    'a web page of a foreign origin called',
    'list the origin in `server.allowed_origins`',
  ],
  'endpoint.unknown': ['there is no such path', "`GET /` lists all paths; check the client's base URL"],
  'model.unknown': ['no provider serves the model for this key', '`gateway models` lists those that are'],
  'key.unknown': ['there is no key with this id', '`gateway key list` shows them'],
  'log.unknown': [
    'there is no exchange, conversation or session with this id',
    '`gateway logs` and `gateway sessions` list them',
  ],
  'method.not_allowed': ['the path takes another method', 'the `Allow` header names it'],
  'request.upgrade': ['a WebSocket was asked for', 'use HTTP'],
  'host.not_allowed': [
    'the `Host` header is no name of the gateway',
    'list the name in `server.allowed_hosts`',
  ],
  'limit.requests': ['too many requests in this period', 'wait as `Retry-After` says'],
  'limit.tokens': [
    'too many tokens in this period',
    'wait as `Retry-After` says, or lower the cap on output',
  ],
  'limit.budget': [
    'the request could cost more than the budget has left',
    'lower `max_tokens`, or raise the budget; `gateway usage` shows what was used',
  ],
  'limit.repeated': [
    'the same request came too often within a minute: a program goes round in circles',
    'stop it, or raise `repeated_requests`',
  ],
  'limit.concurrency': ['too many requests at the same time', 'wait for one to end'],
  'limit.state_unavailable': [
    "Redis or the ledger can't be reached, so limits can't be counted",
    'restore it; `gateway doctor` says why',
  ],
  'gateway.internal': ['the gateway failed', 'the log has the cause; please report it'],
  'gateway.overloaded': [
    'the gateway starts, or has no memory to spare',
    'try again shortly; see `server.limits.bodies_in_flight`',
  ],
  'gateway.draining': ['the gateway is stopping', 'send it to another gateway, or again after the restart'],
  'provider.unreachable': [
    'there is no connection to the provider',
    '`gateway doctor` says whether it is the name, the port, TLS or a proxy',
  ],
  'provider.broken_response': [
    'the answer broke off, or is not what the API sends',
    'try again; check `base_url`',
  ],
  'provider.credentials_rejected': [
    "the provider refuses the gateway's credentials",
    "correct the provider's key; the record's `cause` has its words",
  ],
  'provider.credentials_missing': [
    'no credentials could be obtained, so nothing was sent',
    'the message says what is missing; `gateway doctor` tries again',
  ],
  'provider.unavailable': ['the provider is not configured, or its breaker is open', 'set its key, or wait'],
  'provider.timeout': ['the provider did not answer in time', 'try again; see `timeouts` of the provider'],
  'session.required': ['the live page needs a session', 'open it with `gateway open`'],
  'session.invalid': ['the link or the session of the live page is over', '`gateway open` makes a new one'],
  'inspector.unknown': ['the live page has no such thing, or is off', 'reload the page'],
  'inspector.not_kept': [
    'the body of this exchange, or its key, is not kept',
    'switch "keep bodies" on, and send it again',
  ],
  'inspector.no_ledger': ['no ledger is kept', 'set `records.ledger`'],
  'inspector.busy': ['the live page computes too much at once', 'try again shortly'],
  'inspector.too_long': [
    'what the live page computes takes too long or too much memory',
    'try a smaller request',
  ],
  'login.required': ['the plant store needs a login', '`gateway login`'],
  'login.failed': ['user name or password is wrong', '`gateway plants user reset` makes a new password'],
  'login.throttled': ['too many wrong passwords', 'wait as `Retry-After` says'],
  'plant.invalid': ['the plant is not valid', '`param` names the field'],
  'plant.ambiguous': ['several plants have this name', 'name it by its id'],
  'plant.unknown': ['there is no such plant', '`gateway plants search` lists them'],
  'user.unknown': ['there is no such user', 'check the name'],
  'user.exists': ['there is such a user already', 'choose another name'],
  'store.database': ["the plant store's database can't be used", 'the log has the cause'],
  'usage.invalid': ['the command line is wrong', 'the message says where; `--help` shows examples'],
  'config.invalid': [
    "the configuration can't be used",
    '`gateway config check` shows each problem with its place',
  ],
  'config.untrusted': [
    'a file that was found wants something that nobody has allowed',
    'read it, then `gateway trust`',
  ],
  'answer.mismatch': ['the answer does not fit the schema', 'try again, or correct `--schema`'],
  'output.failed': ['the output could not be written', 'make room, or write elsewhere'],
  'port.busy': ['another program listens on the port', 'the message names it; `-p` takes another port'],
  'drain.incomplete': [
    'not everything was written before the end',
    'the log has the cause; the next start settles the rest',
  ],
  'doctor.errors': ['`doctor` found errors', 'each has its remedy beside it'],
  'agent.missing': ['the agent is not installed', 'install it; the message says how'],
  'agent.failed': ['the agent could not be started', 'check its file and its permissions'],
  'gateway.unreachable': [
    'no gateway answers',
    'start one (`gateway serve`), or do what the message says about `GATEWAY_URL`',
  ],
  'store.unreachable': [
    'no plant store answers',
    'start one (`gateway serve`), or do what the message says about `PLANTS_URL`',
  ],
  'client.left': ['the client left before the end', 'nothing; records have it as `left`'],
  interrupted: ['Ctrl-C ended the command', 'nothing'],
  terminated: ['SIGTERM, or the end of its terminal, ended the command', 'nothing'],
};
