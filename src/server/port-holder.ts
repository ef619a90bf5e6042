import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * Who listens on a TCP port, as "node (pid 123)", if the system shows it (on Linux, for own processes or as root).
 * Undefined does not mean that the port is free.
 */
export function portHolder(port: number): string | undefined {
  try {
    const inode = listeningInode(port);
    if (inode === undefined) return undefined;
    const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && holdsSocket(name, inode));
    if (pid === undefined) return undefined;
    return `${programOf(pid)} (pid ${pid})`;
  } catch {
    return undefined; // not Linux
  }
}

/** Its command line without options, which may hold secrets; Node gives every program the same name. */
function programOf(pid: string): string {
  const [program = '', ...words] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  const name = basename(program) || readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  const script = words.find((word) => !word.startsWith('-')) ?? '';
  return /^(?:node|nodejs|bun|deno|python[\d.]*|ruby|java)$/.test(name) && /^[\w./@-]{1,200}$/.test(script)
    ? `${name} ${basename(script)}`
    : name;
}

/** The socket's inode from the kernel's table: state 0A is LISTEN (proc(5)). */
function listeningInode(port: number): string | undefined {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readFileSync(table, 'utf8').split('\n').slice(1)) {
      const cells = line.trim().split(/\s+/);
      if (cells[1]?.endsWith(suffix) === true && cells[3] === '0A') return cells[9];
    }
  }
  return undefined;
}

function holdsSocket(pid: string, inode: string): boolean {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).some((fd) => linkOf(`${folder}/${fd}`) === `socket:[${inode}]`);
  } catch {
    return false; // another user's process, or gone by now
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // closed since it was listed
  }
}
