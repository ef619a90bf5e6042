import { afterEach } from 'vitest';
import { type DialectName, dialects } from '../../src/dialects/registry.ts';
import { GatewayError } from '../../src/errors.ts';
import { type RelayedStream, relayStream } from '../../src/gateway/answer/answer.ts';
import { AnswerStream, ExactSource } from '../../src/gateway/answer/answer-stream.ts';
import { ClientAnswer } from '../../src/gateway/answer/client-answer.ts';
import { SecretStage } from '../../src/gateway/answer/stream-stages.ts';
import { Exchange } from '../../src/gateway/exchange.ts';
import { Scrubber } from '../../src/gateway/scrub.ts';
import type { ReadAnswer } from '../../src/gateway/subscriber.ts';
import { defaultListenLimits, type Listener, listen } from '../../src/http/listen.ts';
import type { HttpRequest } from '../../src/http/request.ts';
import type { HttpResponse } from '../../src/http/response.ts';
import { AnswerHeaders } from '../../src/providers/headers.ts';
import type { BodySink, ProviderAnswer } from '../../src/providers/transport/pool.ts';
import { parseAnswers, RawConnection } from '../kit/raw.ts';

/** An answer whose body the test writes. */
export class WrittenAnswer implements ProviderAnswer {
  readonly status = 200;
  readonly headers = new AnswerHeaders();
  readonly whole = () => undefined;
  isBehind = false;
  wasAborted = false;
  timesResumed = 0;
  #sink: BodySink | undefined;
  #resumed: () => void = () => undefined;

  pipe(sink: BodySink): void {
    this.#sink = sink;
  }

  resume(): void {
    this.timesResumed += 1;
    this.#resumed();
  }

  /** What has arrived in this tick. */
  arrived = '';

  flush(): void {
    const { arrived } = this;
    this.arrived = '';
    if (arrived !== '') this.write(arrived);
  }

  abort(): void {
    this.wasAborted = true;
  }

  get sink(): BodySink {
    if (this.#sink === undefined) throw new Error('nobody reads the answer');
    return this.#sink;
  }

  write(text: string): boolean {
    return this.sink.data(Buffer.from(text));
  }

  resumed(): Promise<void> {
    return new Promise((resolve) => {
      this.#resumed = resolve;
    });
  }
}

interface Begun {
  readonly answer: WrittenAnswer;
  readonly exchange: Exchange;
  /** How the relay ended: the reason, or 'complete'. */
  readonly outcome: Promise<string>;
  /** What was published of the answer. */
  readonly answersRead: readonly ReadAnswer[];
}

export interface Relayed extends Begun {
  readonly connection: RawConnection;
  /** Another request on the same connection, and its answer. */
  readonly next: () => Promise<Begun>;
}

const request = 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';

const listeners: Listener[] = [];
const connections: RawConnection[] = [];

afterEach(async () => {
  for (const connection of connections.splice(0)) connection.end();
  await Promise.all(listeners.splice(0).map((listener) => listener.drain()));
});

/** A stream that passes as it came, but for secrets. */
export function exactStream(name: DialectName, secrets: readonly string[] = []): AnswerStream {
  const scrubber = new Scrubber(secrets);
  const source = new ExactSource(dialects[name]);
  return new AnswerStream({ source, stages: [new SecretStage(scrubber)], scrubber });
}

/** A client whose request is answered by relaying what the test writes. */
export async function relay(
  name: 'messages' | 'chat' | 'responses' = 'chat',
  before: (exchange: Exchange) => void = () => undefined,
  stream: RelayedStream = exactStream(name),
  { heartbeatMs }: { readonly heartbeatMs?: number } = {},
): Promise<Relayed> {
  let begun: (relayed: Begun) => void = () => undefined;
  const beginning = new Promise<Begun>((resolve) => {
    begun = resolve;
  });
  const onRequest = (message: HttpRequest, response: HttpResponse) => {
    const answersRead: ReadAnswer[] = [];
    const exchange = new Exchange(message, response, {
      scrubber: new Scrubber([]),
      followers: [() => ({ answerRead: (read) => answersRead.push(read) })],
    });
    response.onClose(() => {
      if (!response.isFinished) exchange.lifetime.end(new GatewayError('client.left', 'the client left'));
    });
    const answer = new WrittenAnswer();
    before(exchange);
    const headers = ['content-type', 'text/event-stream'];
    const outcome = relayStream(exchange, {
      answer,
      stream,
      headers,
      client: new ClientAnswer(exchange),
      heartbeatMs,
      held: { add: () => undefined, release: () => undefined },
      found: () => ({ verdicts: [], masking: {} }),
    }).then(
      () => 'complete',
      (error: unknown) => (error instanceof GatewayError ? error.code : String(error)),
    );
    begun({ answer, exchange, outcome, answersRead });
  };
  const limits = { ...defaultListenLimits, drainMs: 1_000 };
  const listener = await listen({ host: '127.0.0.1', port: 0, limits, onRequest });
  listeners.push(listener);
  const connection = new RawConnection(listener.port);
  connections.push(connection);
  connection.send(request);
  const first = await beginning;
  const next = () => {
    const following = new Promise<Begun>((resolve) => {
      begun = resolve;
    });
    connection.send(request);
    return following;
  };
  return { ...first, connection, next };
}

/** The body of the one answer on a connection, with its chunked framing taken off; whether it was ended. */
export function bodyOf({ received }: RawConnection): { readonly text: string; readonly isWhole: boolean } {
  const [answer] = parseAnswers(Buffer.from(received, 'latin1'));
  return { text: answer?.body.toString('latin1') ?? '', isWhole: answer?.isWhole ?? false };
}
