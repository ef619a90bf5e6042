import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const haproxy = {
  name: 'haproxy',
  prepare({ port, provider, folder, key }) {
    const file = join(folder, `haproxy-${port}.cfg`);
    writeFileSync(
      file,
      `global
  nbthread 1
  maxconn 8000
defaults
  mode http
  timeout connect 5s
  timeout client 300s
  timeout server 300s
  option http-keep-alive
  option http-no-delay
  http-reuse always
frontend front
  bind 127.0.0.1:${port} backlog 4096
  acl known req.hdr(authorization) -m str "Bearer ${key}"
  http-request deny deny_status 401 unless known
  http-request set-header authorization "Bearer sk-provider"
  default_backend back
backend back
  server provider 127.0.0.1:${provider.port} pool-max-conn 2048
`,
    );
    return { command: ['haproxy', '-db', '-f', file] };
  },
};
