import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { GatewayError } from '../../../errors.ts';
import { commonOptions } from '../command.ts';
import type { Io } from '../io.ts';
import { print } from '../print/print.ts';

/** Turns a command's JSON output into what is shown. */
interface Transform {
  /** One document, or several in a row. */
  apply(json: string): Promise<string>;
  close(): Promise<void>;
}

/** Passes what commands print through --jq or --output-template, if one of them is given. */
export interface OutputFilter {
  readonly io: Io;
  /** Called before the command: throws for an invalid expression, before anything that costs money is sent. */
  begin(command: Command): Promise<void>;
  /** Called after the command, even if it failed. */
  finish(): Promise<void>;
}

export function createOutputFilter(io: Io): OutputFilter {
  let transform: Transform | undefined;
  let sink: Sink | undefined;
  return {
    // Copies property descriptors, because standard input is opened on first access.
    io: Object.defineProperties(
      {},
      {
        ...Object.getOwnPropertyDescriptors(io),
        stdout: { get: () => sink?.stream ?? io.stdout, enumerable: true },
      },
    ) as Io,
    begin: async (command) => {
      const { jq, outputTemplate, output } = commonOptions(command);
      if (jq === undefined && outputTemplate === undefined) return;
      const option = jq === undefined ? '--output-template' : '--jq';
      if (jq !== undefined && outputTemplate !== undefined) {
        throw new GatewayError('usage.invalid', '--jq and --output-template exclude each other', {
          param: 'jq',
        });
      }
      if (output !== undefined && output !== 'json' && output !== 'ndjson') {
        throw new GatewayError('usage.invalid', `${option} works on JSON: leave -o ${output} out`, {
          param: 'output',
        });
      }
      transform =
        jq === undefined
          ? (await import('./output-template.ts')).templateTransform(outputTemplate ?? '')
          : await (await import('./jq.ts')).jqTransform(jq, io.signal);
      if (output === undefined) command.setOptionValueWithSource('output', 'json', 'cli');
      sink = createSink(
        transform,
        { byLine: output === 'ndjson', name: `${command.name()} prints no JSON for ${option}` },
        io,
      );
    },
    finish: async () => {
      try {
        await sink?.end();
      } finally {
        await transform?.close();
      }
    },
  };
}

interface Sink {
  readonly stream: Writable;
  end(): Promise<void>;
}

interface SinkOptions {
  /** Whether each line is shown as it arrives, for commands that keep running. */
  readonly byLine: boolean;
  /** The error if nothing was printed. */
  readonly name: string;
}

function createSink(transform: Transform, { byLine, name }: SinkOptions, { stdout }: Io): Sink {
  let text = '';
  let isEmpty = true;
  const show = async (json: string) => {
    if (json.trim() !== '') await print(await transform.apply(json), { stdout });
  };
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      text += String(chunk);
      isEmpty = false;
      const end = byLine ? text.lastIndexOf('\n') + 1 : 0;
      if (end === 0) return done();
      const lines = text.slice(0, end);
      text = text.slice(end);
      show(lines).then(() => done(), done);
    },
  });
  stream.on('error', () => undefined); // the writing command gets the error
  return {
    stream,
    end: async () => {
      if (isEmpty && !byLine) throw new GatewayError('usage.invalid', name);
      await show(text);
    },
  };
}
