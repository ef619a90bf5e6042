import { createInterface, type Interface } from 'node:readline';
import { pipeline, Transform, type TransformCallback, Writable } from 'node:stream';
import { GatewayError } from '../../errors.ts';
import type { Io } from '../shell/io.ts';

/** Reads what a person types, or what a pipe contains, one question at a time. */
export interface LineReader {
  /** The next question, which may have several lines; undefined at the end. */
  next(): Promise<string | undefined>;
  /** From now on Ctrl-C calls the listener, and typed text is not echoed but kept for later. */
  occupy(onInterrupt: () => void): void;
  /** Ends `occupy`. */
  release(): void;
  close(): void;
}

const prompt = '> ';
const continuation = '… ';
const blockMark = '"""';
const pasteOn = '\u001b[?2004h';
const pasteOff = '\u001b[?2004l';

/** Reads with line editing at a terminal; elsewhere every line is a question. */
export function openLineReader(io: Io, history: readonly string[]): LineReader {
  const isTerminal = io.stdin.isTTY === true && io.stderr.isTTY === true;
  return isTerminal ? terminalReader(io, history) : pipeReader(io);
}

function pipeReader({ stdin, signal }: Io): LineReader {
  let problem: unknown;
  const input = pipeline(stdin, strictText(), (error) => {
    problem = error;
  });
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  const block = createBlock();
  const iterator = lines[Symbol.asyncIterator]();
  const stop = () => lines.close();
  signal.addEventListener('abort', stop, { once: true });
  return {
    next: async () => {
      for (;;) {
        const { value, done } = await iterator.next();
        signal.throwIfAborted();
        if (problem instanceof GatewayError) throw problem;
        if (done === true) return block.rest();
        const whole = block.add(value);
        if (whole !== undefined) return whole;
      }
    },
    occupy: () => undefined,
    release: () => undefined,
    close: () => {
      signal.removeEventListener('abort', stop);
      lines.close();
    },
  };
}

function terminalReader({ stdin, stderr, signal, env }: Io, history: readonly string[]): LineReader {
  const screen = new Screen(stderr);
  const lines = createInterface({
    input: stdin,
    output: screen,
    terminal: true,
    history: [...history],
    prompt,
  });
  const block = createBlock();
  const questions: string[] = [];
  let isOver = false;
  let isPasting = false;
  let onInterrupt: (() => void) | undefined;
  let wake: () => void = () => undefined;
  const end = () => {
    isOver = true;
    wake();
  };
  stdin.on('keypress', (_text: string | undefined, key: { readonly name?: string } | undefined) => {
    if (key?.name === 'paste-start') isPasting = true;
    if (key?.name === 'paste-end') isPasting = false;
  });
  lines
    .on('line', (line) => {
      const whole = block.add(line, { isPasted: isPasting });
      if (whole !== undefined) questions.push(whole);
      if (onInterrupt === undefined && whole === undefined) showPrompt(lines, continuation);
      wake();
    })
    .on('SIGINT', () => {
      if (onInterrupt !== undefined) return onInterrupt();
      const hadText = lines.line !== '' || block.rest() !== undefined;
      screen.write(hadText ? '\n' : '\n/exit or Ctrl-D ends the conversation\n');
      lines.write(null, { ctrl: true, name: 'e' });
      lines.write(null, { ctrl: true, name: 'u' });
      showPrompt(lines, prompt);
    })
    .on('close', end);
  signal.addEventListener('abort', end, { once: true });
  const isDumb = env.TERM === 'dumb'; // it shows what it can't carry out
  if (!isDumb) screen.write(pasteOn);
  return {
    next: async () => {
      if (questions.length === 0) showPrompt(lines, prompt);
      while (questions.length === 0 && !isOver) await new Promise<void>((resolve) => (wake = resolve));
      signal.throwIfAborted();
      return questions.shift() ?? block.rest();
    },
    occupy: (listener) => {
      onInterrupt = listener;
      screen.isMuted = true;
    },
    release: () => {
      onInterrupt = undefined;
      screen.isMuted = false;
    },
    close: () => {
      signal.removeEventListener('abort', end);
      screen.isMuted = false;
      if (!isDumb) screen.write(pasteOff);
      lines.close();
    },
  };
}

function showPrompt(lines: Interface, text: string): void {
  lines.setPrompt(text);
  lines.prompt(true);
}

interface QuestionLines {
  /** The question that a line completes; undefined if more has to come. */
  add(line: string, how?: { readonly isPasted: boolean }): string | undefined;
  /** Discards an incomplete question; returns whether there was one. */
  rest(): string | undefined;
}

/** Several lines are one question if they are between two lines of """, end with \, or are pasted. */
function createBlock(): QuestionLines {
  let kept: string[] = [];
  let isOpen = false;
  const take = () => {
    const whole = kept.join('\n');
    kept = [];
    isOpen = false;
    return whole;
  };
  return {
    add: (line, { isPasted } = { isPasted: false }) => {
      const isMark = line.trim() === blockMark;
      if (isMark && isOpen) return take();
      if (isMark && kept.length === 0) {
        isOpen = true;
        return undefined;
      }
      const isContinued = !isOpen && !isPasted && line.endsWith('\\');
      kept.push(isContinued ? line.slice(0, -1) : line);
      return isOpen || isPasted || isContinued ? undefined : take();
    },
    rest: () => (kept.length === 0 ? undefined : take()),
  };
}

/** The terminal as the line editor sees it; while it is muted, typed text is not echoed. */
class Screen extends Writable {
  isMuted = false;
  readonly isTTY = true;
  readonly #stream: Io['stderr'];

  constructor(stream: Io['stderr']) {
    super();
    this.#stream = stream;
    stream.on('resize', () => this.emit('resize'));
  }

  get columns(): number {
    return this.#stream.columns || 80;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.isMuted) return done();
    this.#stream.write(chunk, done);
  }
}

/** Fails for bytes that are not UTF-8: otherwise replacement characters would silently be sent, and paid for. */
function strictText(): Transform {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (done: TransformCallback, chunk?: Buffer) => {
    try {
      done(null, decoder.decode(chunk, { stream: chunk !== undefined }));
    } catch {
      done(
        new GatewayError('usage.invalid', 'standard input is not text in UTF-8; /file attaches other files'),
      );
    }
  };
  return new Transform({
    encoding: 'utf8',
    transform: (chunk, _encoding, done) => decode(done, chunk),
    flush: (done) => decode(done),
  });
}
