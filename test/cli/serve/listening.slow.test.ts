import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { bin } from '../../kit/build.ts';
import { homeWith, withoutStore } from '../../kit/command.ts';
import { type Files, ownConfiguration } from '../../kit/own-configuration.ts';

// Each case runs in a network and a mount namespace of its own, with an address and a name that the machine hasn't.
const address = '10.99.0.1';
const name = 'gateway.test';
const canUnshare = spawnSync('unshare', ['-rnm', 'ip', 'link', 'set', 'lo', 'up']).status === 0;
const has = (program: string, option: string) => spawnSync(program, [option]).status === 0;

const tools = String.raw`
ip link set lo up && ip address add ${address}/32 dev lo
printf '127.0.0.1 localhost\n::1 localhost\n${address} ${name}\n' > hosts && mount --bind hosts /etc/hosts
gateway() { timeout 60 "$NODE" "$BIN" "$@" < /dev/null; }
run() { local step=$1; shift; gateway "$@" > "$step.out" 2>&1; echo "$step=$? $(tail -1 "$step.out")"; }
# What a load balancer sends: the first line of the answer, and how many bytes its body has.
ask() { # host port request
  { printf "$3" >&3; timeout 10 cat <&3; } 3<>"/dev/tcp/$1/$2" 2> /dev/null | tr -d '\r' | sed -n '1p'
}
health() { # host port
  for path in /healthz /readyz; do for method in GET HEAD; do for host in ${address} ${name} lb.internal 127.0.0.1; do
    echo "$method $path by $host=$(ask "$1" "$2" "$method $path HTTP/1.1\r\nHost: $host:4100\r\nConnection: close\r\n\r\n")"
  done; echo "$method $path without Host=$(ask "$1" "$2" "$method $path HTTP/1.0\r\n\r\n")"; done; done
}
`;

/** Runs a script of shell in the namespaces; what it printed as \`name=value\`. */
async function inNamespace(script: string, files: Files = {}): Promise<Readonly<Record<string, string>>> {
  const home = homeWith(files);
  const child = spawn('unshare', ['-rnm', 'bash', '-c', tools + script], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, NODE: process.execPath, BIN: bin, ...ownConfiguration(home) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed = text(child.stdout);
  await once(child, 'exit');
  const pairs = (await printed).split('\n').map((line) => line.split('='));
  return Object.fromEntries(pairs.flatMap(([step, value]) => (value === undefined ? [] : [[step, value]])));
}

const own = ['serve', 'send', 'models', 'status', 'doctor', 'search', 'stop'];
const isWell = Object.fromEntries(
  ['/healthz', '/readyz'].flatMap((path) =>
    ['GET', 'HEAD'].flatMap((method) => [
      ...[address, name, 'lb.internal', '127.0.0.1'].map((host) => [`${method} ${path} by ${host}`, 200]),
      [`${method} ${path} without Host`, 200],
    ]),
  ),
);

/** Statuses alone of what answers said, and whether each own command succeeded. */
function outcomeOf(printed: Readonly<Record<string, string>>): object {
  return Object.fromEntries(
    Object.entries(printed).map(([step, value]) => [
      step,
      Number(/^(?:HTTP\/1\.\d )?(\d+)/.exec(value)?.[1]),
    ]),
  );
}

describe.skipIf(!canUnshare)('a gateway that listens at', () => {
  test.concurrent.each([
    ['127.0.0.1', '127.0.0.1', ''],
    ['::1', '::1', ''],
    ['0.0.0.0', address, ''],
    ['0.0.0.0', address, '--workers 2'],
    ['::', address, ''],
    ['::', '::1', '--workers 2'],
    [address, address, ''],
    [name, address, ''],
    ['localhost', 'localhost', ''],
  ])('%s is found by its own commands and by health checks at %s %s', async (host, at, more) => {
    const printed = await inNamespace(`
run serve serve --detach --host ${host} ${more}
run send send hello
run models models
run status status
run doctor doctor
run search plants search
health ${at} 4100
run stop stop
run after status`);

    expect(outcomeOf(printed), JSON.stringify(printed)).toEqual({
      ...Object.fromEntries(own.map((step) => [step, 0])),
      ...isWell,
      after: 8,
    });
  });

  test('a page of a name that leads there is refused all the same, and the address is not', async () => {
    const printed = await inNamespace(`
run serve serve --detach --host 0.0.0.0
for host in evil.example ${address} ${name}; do
  echo "$host=$(ask ${address} 4100 "GET / HTTP/1.1\\r\\nHost: $host\\r\\nConnection: close\\r\\n\\r\\n")"
done
run stop stop`);

    expect(outcomeOf(printed)).toEqual({
      serve: 0,
      'evil.example': 421,
      [address]: 200,
      [name]: 421,
      stop: 0,
    });
  });
});

const fronts = [
  {
    program: 'nginx',
    option: '-v',
    start: `cat > nginx.conf <<X
user root; daemon off; pid $HOME/nginx.pid; error_log stderr crit; events {}
http { access_log off; client_body_temp_path $HOME/1; proxy_temp_path $HOME/2; fastcgi_temp_path $HOME/3;
uwsgi_temp_path $HOME/4; scgi_temp_path $HOME/5;
server { listen ${address}:8080; location / { proxy_pass http://127.0.0.1:4100; proxy_buffering off; } } }
X
nginx -c "$HOME/nginx.conf" & front=$!`,
  },
  {
    program: 'caddy',
    option: 'version',
    start: `printf '{\\nadmin off\\nauto_https off\\n}\\nhttp://:8080 {\\nreverse_proxy 127.0.0.1:4100\\n}\\n' > Caddyfile
caddy run --config Caddyfile --adapter caddyfile > caddy.log 2>&1 & front=$!`,
  },
  {
    program: 'haproxy',
    option: '-v',
    // Its own checks are HTTP/1.0 without Host.
    start: `cat > haproxy.cfg <<X
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend in
  bind ${address}:8080
  default_backend gateways
frontend stats
  bind ${address}:8404
  stats enable
  stats uri /
backend gateways
  option httpchk GET /readyz
  server g 127.0.0.1:4100 check inter 50ms
X
haproxy -db -f haproxy.cfg > haproxy.log 2>&1 & front=$!
for _ in $(seq 100); do
  { printf 'GET /;csv HTTP/1.0\\r\\n\\r\\n' >&3; grep -q 'gateways,g,.*L7OK' <&3; } 3<>/dev/tcp/${address}/8404 && break
  sleep 0.1
done 2> /dev/null
echo "checked=$?"`,
  },
] as const;

describe.skipIf(!canUnshare)('behind', () => {
  test.concurrent.each(fronts.filter(({ program, option }) => has(program, option)))(
    '$program',
    async ({ start }) => {
      const printed = await inNamespace(
        `
run serve serve --detach
${start}
for _ in $(seq 100); do (: <> /dev/tcp/${address}/8080) 2> /dev/null && break; sleep 0.1; done
export GATEWAY_URL=http://${name}:8080
export GATEWAY_KEY=$("$NODE" -p 'require(process.env.HOME + "/.local/state/gateway/local-key.json").key')
run send send hello
run models models
run doctor doctor
health ${address} 8080
unset GATEWAY_URL GATEWAY_KEY
run status status
run stop stop
kill $front; wait $front 2> /dev/null`,
        { 'gateway.yaml': `server: { allowed_hosts: [${name}] }\n${withoutStore}` },
      );

      expect(outcomeOf(printed), JSON.stringify(printed)).toMatchObject({
        ...Object.fromEntries(own.filter((step) => step !== 'search').map((step) => [step, 0])),
        ...isWell,
        ...(start.includes('checked=') ? { checked: 0 } : {}),
      });
    },
  );
});
