/**
 * The configuration of the web server that serves Dns objects. Pure. A path matches whole elements; the
 * upstream receives the rest of the path, as if the prefix were its `/`, and the prefix in a header.
 */
import type { HostRoutes, PathRoute } from './routes.ts';

/** Host name under which the server reports its configuration; a Dns object cannot have this name. */
export const statusHost = '_minik8s';

export interface NginxFacts {
  readonly port: number;
  /** Generation that the server reports; letters and digits. */
  readonly generation: string;
}

export function renderNginx(hosts: readonly HostRoutes[], { port, generation }: NginxFacts): string {
  return `worker_processes 2;
pid /tmp/minik8s-nginx.pid;
error_log stderr warn;
events {
  worker_connections 4096;
}
http {
  access_log off;
  server_tokens off;
  default_type text/plain;
  client_body_temp_path /tmp/minik8s-body;
  proxy_temp_path /tmp/minik8s-proxy;
  client_max_body_size 0;
  server_names_hash_bucket_size 512;
  server_names_hash_max_size 16384;
  map $http_upgrade $minik8s_connection {
    default upgrade;
    '' '';
  }
  proxy_http_version 1.1;
  proxy_connect_timeout 5s;
  proxy_set_header Host $http_host;
  proxy_set_header Upgrade $http_upgrade;
  proxy_set_header Connection $minik8s_connection;
  proxy_set_header X-Real-IP $remote_addr;
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
  proxy_set_header X-Forwarded-Host $http_host;
  proxy_set_header X-Forwarded-Proto $scheme;
  proxy_set_header X-Forwarded-Prefix $minik8s_prefix;
  server {
    listen ${port} default_server;
    server_name ${statusHost};
    set $minik8s_prefix '';
    location / {
      return 404 "no Dns serves this host\\n";
    }
    location = /generation {
      if ($remote_addr != 127.0.0.1) {
        return 404;
      }
      return 200 ${generation};
    }
  }
${hosts.map((host) => renderHost(host, port)).join('')}}
`;
}

function renderHost({ host, paths }: HostRoutes, port: number): string {
  const rest = paths.some(({ path }) => path === '/')
    ? ''
    : location('/', 'return 404 "no Dns serves this path\\n";');
  return `  server {
    listen ${port};
    server_name ${host};
    set $minik8s_prefix '';
    error_page 502 504 = @unavailable;
${paths.map(renderPath).join('')}${rest}${location('@unavailable', unavailable)}  }
`;
}

const unavailable = 'return 503 "the service of this path is not available\\n";';

function renderPath({ path, upstream }: PathRoute): string {
  if (upstream === undefined) return locations(path, unavailable);
  if (path === '/') return location('/', `proxy_pass http://${upstream};`);
  return locations(path, `set $minik8s_prefix ${path};\n      proxy_pass http://${upstream}/;`);
}

/** Renders the locations for the path itself and for everything below it. */
const locations = (path: string, body: string) =>
  path === '/' ? location('/', body) : location(`= ${path}`, body) + location(`${path}/`, body);

const location = (match: string, body: string) => `    location ${match} {
      ${body}
    }
`;
