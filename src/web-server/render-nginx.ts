/**
 * The configuration of nginx for the sites of a node. Pure. Fronts have validated the values of the sites;
 * every value is quoted here all the same.
 */
import { quoted } from './quote.ts';
import { listenLines, portsOf } from './render-listen.ts';
import { renderRoutes, unavailable } from './render-routes.ts';
import { renderRules } from './render-rules.ts';
import type { Listen, ProxyAction, Site } from './site.ts';
import { affinityNames, Upstreams } from './upstreams.ts';
import { Variables } from './variables.ts';

/** Host name under which the server reports its configuration; no object can have this name. */
export const statusHost = '_minik8s';
export const defaultCertificate = 'default.pem';

export interface NginxFacts {
  readonly httpPort: number;
  /** Undefined: HTTPS is not served. */
  readonly httpsPort?: number;
  /** True if the server listens on IPv6, too. */
  readonly ipv6?: boolean;
  /** Directory in which the server finds certificates and drain files. */
  readonly directory: string;
  /** Directory for temporary files of the server, such as `/tmp`. */
  readonly temporary: string;
  /** Generation that the server reports; letters, digits and `-`. */
  readonly generation: string;
}

/** Connections of earlier configurations, such as WebSockets, are ended after this time. */
const shutdownTimeout = '1h';

/** Name of the file that makes clients of this generation open new connections. */
export const drainFile = (generation: string) => `drain-${generation}`;

export function renderNginx(sites: readonly Site[], facts: NginxFacts): string {
  const parts = { upstreams: new Upstreams(), variables: new Variables() };
  const free = unserved(sites, facts).map((listen) => ({ host: '', listen, ...noRoute }));
  const http2Ports = new Set(sites.flatMap(({ listen }) => (listen?.http2 ? [listen.port] : [])));
  const servers = [...free, ...sites].map((site) => renderSite(site, facts, { ...parts, http2Ports }));
  return `${top(facts)}${http(facts)}${stickyMaps(sites)}${parts.variables.render()}${parts.upstreams.render()}${statusServer(facts)}${servers.join('')}}
`;
}

const noRoute = { notFound: 'no route for this host', routes: [] };

/** Returns the ports on which no site serves every other host. */
function unserved(sites: readonly Site[], facts: NginxFacts): readonly Listen[] {
  const served = new Set(sites.filter(({ host }) => host === '').flatMap((site) => portsOf(site, facts)));
  const all = new Map(portsOf({}, facts).map((port) => [port, port === facts.httpsPort]));
  for (const { listen } of sites) if (listen) all.set(listen.port, listen.tls);
  return [...all].filter(([port]) => !served.has(port)).map(([port, tls]) => ({ port, tls }));
}

const top = ({ temporary }: NginxFacts) => `worker_processes 2;
worker_rlimit_nofile 65536;
worker_shutdown_timeout ${shutdownTimeout};
pid ${temporary}/minik8s-nginx.pid;
error_log stderr warn;
events {
  worker_connections 8192;
}
`;

/** Answers with `Connection: close` make clients open new connections, which a reload does not close. */
const http = ({ directory, temporary }: NginxFacts) => `http {
  access_log off;
  server_tokens off;
  default_type text/plain;
  client_body_temp_path ${temporary}/minik8s-body;
  proxy_temp_path ${temporary}/minik8s-proxy;
  fastcgi_temp_path ${temporary}/minik8s-fastcgi;
  uwsgi_temp_path ${temporary}/minik8s-uwsgi;
  scgi_temp_path ${temporary}/minik8s-scgi;
  server_names_hash_bucket_size 512;
  server_names_hash_max_size 16384;
  variables_hash_max_size 4096;
  keepalive_requests 10000;
  client_header_timeout 30s;
  map $http_upgrade $minik8s_connection {
    default upgrade;
    '' '';
  }
  map "$server_protocol:$http_upgrade:$minik8s_drain" $minik8s_close {
    default '';
    'HTTP/1.1::yes' close;
  }
  add_header Connection $minik8s_close always;
  proxy_http_version 1.1;
  proxy_connect_timeout 5s;
  proxy_set_header Host $http_host;
  proxy_set_header Upgrade $http_upgrade;
  proxy_set_header Connection $minik8s_connection;
  proxy_set_header X-Real-IP $remote_addr;
  proxy_set_header X-Forwarded-For $remote_addr;
  proxy_set_header X-Forwarded-Host $http_host;
  proxy_set_header X-Forwarded-Port $server_port;
  proxy_set_header X-Forwarded-Proto $scheme;
  proxy_set_header X-Forwarded-Prefix $minik8s_prefix;
  proxy_set_header X-Request-ID $request_id;
  proxy_ssl_protocols TLSv1.2 TLSv1.3;
  grpc_connect_timeout 5s;
  grpc_set_header Host $host;
  grpc_set_header X-Real-IP $remote_addr;
  grpc_set_header X-Forwarded-For $remote_addr;
  grpc_set_header X-Forwarded-Proto $scheme;
  ssl_protocols TLSv1.2 TLSv1.3;
  ssl_session_cache shared:minik8s:10m;
  ssl_session_tickets off;
  ssl_certificate ${quoted(`${directory}/${defaultCertificate}`)};
  ssl_certificate_key ${quoted(`${directory}/${defaultCertificate}`)};
`;

const statusServer = ({ httpPort, generation }: NginxFacts) => `  server {
    listen ${httpPort};
    server_name ${statusHost};
    set $minik8s_prefix '';
    set $minik8s_drain '';
    location / {
      return 404;
    }
    location = /generation {
      if ($remote_addr != 127.0.0.1) {
        return 404;
      }
      return 200 "${generation} $connections_active $connections_waiting";
    }
  }
`;

interface Parts {
  /** Ports without TLS on which clients may begin with HTTP/2. */
  readonly http2Ports: ReadonlySet<number>;
  readonly upstreams: Upstreams;
  readonly variables: Variables;
}

function renderSite(site: Site, facts: NginxFacts, parts: Parts): string {
  const { directory, generation, httpsPort } = facts;
  const certificate = quoted(`${directory}/${site.certificate}`);
  const own = site.certificate
    ? `    ssl_certificate ${certificate};\n    ssl_certificate_key ${certificate};\n`
    : '';
  // The server of every other host decides for a port, so that each server of it says the same.
  const http2 = portsOf(site, facts).some((port) => parts.http2Ports.has(port)) ? '    http2 on;\n' : '';
  const locations = site.rules
    ? renderRules(site, site.rules, { ...parts, directory })
    : renderRoutes(site, { upstreams: parts.upstreams, httpsPort });
  return `  server {
${listenLines(site, facts)}${http2}${own}    server_name ${serverName(site)};
    set $minik8s_prefix '';
    set $minik8s_drain '';
    if (-f ${quoted(`${directory}/${drainFile(generation)}`)}) {
      set $minik8s_drain yes;
    }
    error_page ${site.rules ? '502' : '502 504'} = @unavailable;
${locations}    location @unavailable {
      ${unavailable}
    }
  }
`;
}

/**
 * Returns the argument of server_name. In nginx a star stands for several labels, so that a star for one
 * label becomes a pattern. The host must be valid.
 */
function serverName({ host, star }: Site): string {
  if (host === '') return '_';
  const isPattern = host.startsWith('*.') && star !== 'more';
  return quoted(isPattern ? `~^[^.]+${host.slice(1).replaceAll('.', '[.]')}$` : host);
}

/** Returns the variables of cookies that keep a client at a backend: the client's value, or a new one. */
function stickyMaps(sites: readonly Site[]): string {
  const proxies = sites.flatMap(({ routes }) =>
    routes.flatMap(({ action }) => (action.type === 'proxy' ? [action] : [])),
  );
  const cookies = new Set(proxies.flatMap(({ affinity }: ProxyAction) => affinity?.cookie ?? []));
  return [...cookies]
    .sort()
    .map((cookie) => {
      const { read, key, send } = affinityNames(cookie);
      return `  map ${read} ${key} {\n    default ${read};\n    '' $request_id;\n  }
  map ${read} ${send} {\n    default '';\n    '' ${quoted(`${cookie}=$request_id`)};\n  }\n`;
    })
    .join('');
}
