import { join } from 'node:path';
import { Writable } from 'node:stream';
import { loadConfig } from '../../src/config/load.ts';
import { createRecorder } from '../../src/record/recorder.ts';
import { startServices } from '../../src/server/services.ts';

interface RecordingGateway {
  readonly url: string;
  /** Everything is in the file when it resolves. */
  stop(): Promise<void>;
}

/** A gateway by a configuration file in a directory, that writes its records as `serve` does, into `records.jsonl`. */
export async function startRecording(
  directory: string,
  file: string,
  env: Readonly<Record<string, string>>,
): Promise<RecordingGateway> {
  const loaded = await loadConfig({ file, cwd: directory, env, nowMs: Date.now() });
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  const recorder = createRecorder({ file: join(directory, 'records.jsonl'), stderr });
  const services = await startServices({
    config: loaded.config,
    host: '127.0.0.1',
    port: 0,
    record: recorder.write,
  });
  services.announce();
  return {
    url: services.url,
    stop: async () => {
      await services.stop();
      recorder.close();
    },
  };
}
