import { homeWith } from './own-configuration.ts';
import { freePort } from './ports.ts';
import { startRealProgram } from './real-program.ts';

/** nginx in front of a gateway, with its defaults but for `settings`, until the end of the file; returns its URL. */
export async function startNginx(gateway: string, settings = ''): Promise<string> {
  const port = await freePort();
  const folder = homeWith({
    'nginx.conf': `daemon off; pid pid; error_log stderr crit; events {}
http {
  access_log off; client_body_temp_path 1; proxy_temp_path 2; fastcgi_temp_path 3; uwsgi_temp_path 4; scgi_temp_path 5;
  ${settings}
  server { listen 127.0.0.1:${port}; location / { proxy_pass ${gateway}; } }
}`,
  });
  const user = process.getuid?.() === 0 ? ['-g', 'user root;'] : [];
  await startRealProgram(['nginx', '-p', folder, '-c', `${folder}/nginx.conf`, ...user], port);
  return `http://127.0.0.1:${port}`;
}
