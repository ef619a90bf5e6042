import { describe, expect, test } from 'vitest';
import { address, hasNamespaces, inNamespace, outcomeOf } from '../../kit/namespace.ts';
import { isInstalled } from '../../kit/real-program.ts';

// Each case runs in namespaces of its own, with an address and a name that the machine hasn't.
const name = 'gateway.test';
const names = [`${address} ${name}`];
const hosts = [address, name, 'lb.internal', '127.0.0.1'];

// Health checks as load balancers send them.
const health = String.raw`
health() { # host port
  for path in /healthz /readyz; do for method in GET HEAD; do for host in ${hosts.join(' ')}; do
    echo "$method $path by $host=$(ask "$1" "$2" "$method $path HTTP/1.1\r\nHost: $host:4100\r\nConnection: close\r\n\r\n")"
  done; echo "$method $path without Host=$(ask "$1" "$2" "$method $path HTTP/1.0\r\n\r\n")"; done; done
}`;

const own = ['serve', 'send', 'models', 'status', 'doctor', 'search', 'stop'];
const isWell = Object.fromEntries(
  ['/healthz', '/readyz'].flatMap((path) =>
    ['GET', 'HEAD'].flatMap((method) => [
      ...hosts.map((host) => [`${method} ${path} by ${host}`, 200]),
      [`${method} ${path} without Host`, 200],
    ]),
  ),
);
const succeeded = { ...Object.fromEntries(own.map((step) => [step, 0])), ...isWell };

describe.skipIf(!hasNamespaces)('a gateway that listens at', () => {
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
    const script = `${health}
run serve serve --detach --host ${host} ${more}
run send send hello
run models models
run status status
run doctor doctor
run search plants search
health ${at} 4100
run stop stop
run after status`;

    const printed = await inNamespace(script, { names });

    expect(outcomeOf(printed), JSON.stringify(printed)).toEqual({ ...succeeded, after: 8 });
  });

  test('a page of a name that leads there is refused all the same, and the address is not', async () => {
    const script = `
run serve serve --detach --host 0.0.0.0
for host in evil.example ${address} ${name}; do
  echo "$host=$(ask ${address} 4100 "GET / HTTP/1.1\\r\\nHost: $host\\r\\nConnection: close\\r\\n\\r\\n")"
done
run stop stop`;

    expect(outcomeOf(await inNamespace(script, { names }))).toEqual({
      serve: 0,
      'evil.example': 421,
      [address]: 200,
      [name]: 421,
      stop: 0,
    });
  });
});

// In front of the gateway on port 8080, and of its plant store on port 8081.
const fronts = [
  {
    program: 'nginx',
    start: `cat > nginx.conf <<'X'
daemon off; pid nginx.pid; error_log stderr crit; events {}
http { access_log off; client_body_temp_path 1; proxy_temp_path 2; fastcgi_temp_path 3; uwsgi_temp_path 4;
scgi_temp_path 5; proxy_set_header Host $host; proxy_buffering off;
server { listen 8080; location / { proxy_pass http://127.0.0.1:4100; } }
server { listen 8081; location / { proxy_pass http://127.0.0.1:4101; } } }
X
unprivileged nginx -p "$HOME" -c nginx.conf &`,
  },
  {
    program: 'caddy',
    start: `cat > Caddyfile <<'X'
{
  admin off
  auto_https off
}
http://:8080 {
  reverse_proxy 127.0.0.1:4100
}
http://:8081 {
  reverse_proxy 127.0.0.1:4101
}
X
caddy run --config Caddyfile --adapter caddyfile 2> caddy.log &`,
  },
  {
    program: 'haproxy',
    // Its own checks are HTTP/1.0 without Host.
    start: String.raw`cat > haproxy.cfg <<'X'
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend in
  bind *:8080
  default_backend gateways
frontend plants
  bind *:8081
  default_backend stores
frontend stats
  bind *:8404
  stats enable
  stats uri /
backend gateways
  option httpchk GET /readyz
  server g 127.0.0.1:4100 check inter 50ms
backend stores
  server s 127.0.0.1:4101
X
haproxy -db -f haproxy.cfg 2> haproxy.log &
for _ in $(seq 100); do
  { printf 'GET /;csv HTTP/1.0\r\n\r\n' >&3; grep -q 'gateways,g,.*L7OK' <&3; } 3<>/dev/tcp/${address}/8404 && break
  sleep 0.1
done 2> /dev/null
echo "checked=$?"`,
  },
];

describe.skipIf(!hasNamespaces)('behind', () => {
  test.concurrent.each(fronts.filter(({ program }) => isInstalled(program)))(
    '$program',
    async ({ start }) => {
      const script = `${health}
run serve serve --detach
${start}
listening ${address} 8080; listening ${address} 8081
(
  export GATEWAY_URL=http://${name}:8080 GATEWAY_KEY=$(local_key) PLANTS_URL=http://${name}:8081
  run send send hello
  run models models
  run doctor doctor
  run search plants search
)
health ${address} 8080
run status status
run stop stop`;
      const files = { 'gateway.yaml': `server: { allowed_hosts: [${name}] }\n` };

      const printed = await inNamespace(script, { names, files });

      const checked = start.includes('checked=') ? { checked: 0 } : {};
      expect(outcomeOf(printed), JSON.stringify(printed)).toEqual({ ...succeeded, ...checked });
    },
  );
});
