// What the command line of `npm run bench` says.
import { parseArgs } from 'node:util';

export const sections = [
  'json',
  'tails',
  'streams',
  'first',
  'memory',
  'garbage',
  'cold',
  'workers',
  'lines',
  'mask',
  'stages',
  'startup',
];
/** Those that measure the gateway alone, and need none of what install.mjs brings. */
export const alone = new Set(['mask', 'stages', 'startup']);

const usage = `npm run bench -- [options]
  --only NAMES       contenders, by comma; * at the end stands for any ending (gateway*)
  --sections NAMES   of ${sections.join(', ')}
  --scenarios NAMES  such as '250 B; 360 KB*', by semicolon
  --rounds N         samples of each contender in each scenario (3), in json and tails each of another process
  --seconds N        length of a sample (3)
  --quick            one round of one second, without 2 MB, 1,000 streams and start-up
  --against FOLDER   another built checkout of the gateway, measured beside this one as "before"
  --out FILE         where the figures go as JSON (bench/results/DATE.json; with --quick or --only: nowhere)
  --json             print the figures as JSON too`;

/** Throws with the usage for what it does not know. */
export function parseOptions(argv) {
  let values;
  try {
    ({ values } = parseArgs({ args: argv, options: known }));
  } catch (error) {
    throw new Error(`${error.message}\n\n${usage}`);
  }
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  const isQuick = values.quick === true;
  const chosen = list(values.sections) ?? (isQuick ? sections.slice(0, -1) : sections);
  const unknown = chosen.filter((name) => !sections.includes(name));
  if (unknown.length > 0) throw new Error(`no such section: ${unknown.join(', ')}\n\n${usage}`);
  return {
    only: list(values.only),
    sections: chosen,
    scenarios: list(values.scenarios, ';'),
    isQuick,
    rounds: positive('rounds', values.rounds ?? (isQuick ? '1' : '3')),
    seconds: positive('seconds', values.seconds ?? (isQuick ? '1' : '3')),
    against: values.against,
    out: values.out,
    printsJson: values.json === true,
  };
}

const known = {
  only: { type: 'string' },
  sections: { type: 'string' },
  scenarios: { type: 'string' },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  quick: { type: 'boolean' },
  against: { type: 'string' },
  out: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
};

function list(text, separator = ',') {
  return text?.split(separator).map((name) => name.trim());
}

/** Whether a name is among the wanted ones; all are where none are named. */
export function isWanted(name, wanted) {
  if (wanted === undefined) return true;
  return wanted.some((each) => (each.endsWith('*') ? name.startsWith(each.slice(0, -1)) : name === each));
}

function positive(name, text) {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`--${name}: expected a whole number from 1, got "${text}"`);
  return value;
}
