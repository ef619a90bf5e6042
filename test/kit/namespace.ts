import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { bin } from './build.ts';
import { type Files, homeWith, ownConfiguration } from './own-configuration.ts';

/** An address that only the namespaces have, and another of IPv6. */
export const address = '10.99.0.1';
export const address6 = 'fd99::1';

/** Whether this machine lets its users have namespaces; CI must. */
export const hasNamespaces =
  process.env.CI !== undefined ||
  spawnSync('unshare', ['-rnm', 'ip', 'link', 'set', 'lo', 'up']).status === 0;

// `run` prints a command's exit code and its last line by the name of the step. What is run `unprivileged` is not root,
// which some servers would refuse to be, or leave for a user that the namespace hasn't.
const tools = String.raw`
ip link set lo up && ip address add ${address}/32 dev lo && ip address add ${address6}/128 dev lo nodad
{ printf '127.0.0.1 localhost\n::1 localhost\n'; printf '%s\n' "$NAMES"; } > hosts && mount --bind hosts /etc/hosts
gateway() { timeout 60 "$NODE" "$BIN" "$@" < /dev/null; }
run() { local step=$1; shift; gateway "$@" > "$step.out" 2>&1; echo "$step=$? $(tail -1 "$step.out")"; }
unprivileged() { unshare -U --map-user=65534 --map-group=65534 "$@"; }
listening() { # host port
  for _ in $(seq 300); do (: <> "/dev/tcp/$1/$2") 2> /dev/null && return; sleep 0.1; done; echo "nothing at $1 $2" >&2
}
# What a load balancer sends: the first line of the answer.
ask() { # host port request
  { printf "$3" >&3; timeout 10 cat <&3; } 3<>"/dev/tcp/$1/$2" 2> /dev/null | tr -d '\r' | sed -n '1p'
}
local_key() { "$NODE" -p 'require(process.env.HOME + "/.local/state/gateway/local-key.json").key'; }
`;

interface Options {
  /** What is in the home. */
  readonly files?: Files;
  /** Lines of its /etc/hosts, besides localhost. */
  readonly names?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs a script of bash with a network, a file of hosts and a home of its own, in which \`gateway\` is the real program;
 * what it printed as \`name=value\`. Whatever it started ends with it.
 */
export async function inNamespace(
  script: string,
  { files = {}, names = [], env = {} }: Options = {},
): Promise<Readonly<Record<string, string>>> {
  const home = homeWith(files);
  // In a PID namespace everything ends with its first process.
  const child = spawn('unshare', ['-rnm', '--pid', '--fork', '--kill-child', 'bash', '-c', tools + script], {
    cwd: home,
    env: {
      PATH: `${process.env.PATH}:/usr/sbin`,
      HOME: home,
      NODE: process.execPath,
      BIN: bin,
      NAMES: names.join('\n'),
      ...ownConfiguration(home),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed = text(child.stdout);
  await once(child, 'exit');
  const pairs = (await printed).split('\n').map((line) => /^([^=]+)=(.*)$/.exec(line) ?? []);
  return Object.fromEntries(
    pairs.flatMap(([, step, value]) => (step === undefined ? [] : [[step, value ?? '']])),
  );
}

/** Statuses alone of what answers said, and the exit codes of commands. */
export function outcomeOf(printed: Readonly<Record<string, string>>): object {
  return Object.fromEntries(
    Object.entries(printed).map(([step, value]) => [
      step,
      Number(/^(?:HTTP\/1\.\d )?(\d+)/.exec(value)?.[1]),
    ]),
  );
}
