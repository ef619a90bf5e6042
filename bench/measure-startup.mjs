// CPU time of the commands that scripts call most: startup.mjs, taken into the one report.
import { join } from 'node:path';
import { runLoad } from './processes.mjs';

export async function measureStartup({ options, say }) {
  say('startup');
  const rounds = String(Math.max(3, options.rounds));
  const program = join(import.meta.dirname, 'startup.mjs');
  const { rows } = await runLoad([process.execPath, program, '--rounds', rounds, '--json'], 300);
  return rows.map(({ name, cpu_ms: cpuMs, ratio }) => ({ name, cpuMs, ratio }));
}
