import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The measure of all: a proxy in C that checks the key, changes one header and keeps connections. */
export const nginx = {
  name: 'nginx',
  prepare({ port, provider, folder, key }) {
    return {
      command: nginxCommand(
        folder,
        `proxy-${port}`,
        `map $http_authorization $is_known { default 0; "Bearer ${key}" 1; }
  upstream provider { server 127.0.0.1:${provider.port}; keepalive 1024; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      if ($is_known = 0) { return 401; }
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Authorization "Bearer sk-provider";
      proxy_buffering off;
    }
  }`,
      ),
    };
  },
};

/** Writes a configuration of one process without logs, and gives the command that runs it. */
export function nginxCommand(folder, name, http) {
  const file = join(folder, `${name}.conf`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/nginx-temporary;`,
  );
  writeFileSync(
    file,
    `daemon off; master_process off; worker_processes 1; worker_rlimit_nofile 20000;
pid ${folder}/${name}.pid; error_log ${folder}/${name}.log crit;
events { worker_connections 8192; multi_accept on; }
http {
  access_log off; server_tokens off; map_hash_bucket_size 128; tcp_nodelay on; keepalive_requests 1000000000; keepalive_timeout 300s;
  client_max_body_size 64m; client_body_buffer_size 4m; ${temporary.join(' ')}
  ${http}
}
`,
  );
  return ['nginx', '-p', folder, '-c', file];
}
