/** `ctl proxy`: the API of the cluster at a port of this machine, with the user's credentials. */
import { once } from 'node:events';
import { lstatSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { aborted } from '../../base/abort.ts';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Dialing } from '../../client/https-transport.ts';
import { OpenSockets } from '../../http/open-sockets.ts';
import type { Flags, FlagTable } from '../flags/flags.ts';
import type { Io } from '../io.ts';
import { ApiForwarder, refuse, refuseUpgrade } from '../proxy/forward.ts';
import { type ProxyAction, type ProxySettings, patternsOf, proxyAction } from '../proxy/proxy-plan.ts';
import { serveFile } from '../proxy/static-files.ts';
import { hostPort } from '../streaming/port-forward-plan.ts';
import type { Verb } from '../verb.ts';

const defaultPort = 8001;
const usual = {
  'accept-hosts': '^localhost$,^127\\.0\\.0\\.1$,^\\[::1\\]$',
  'accept-paths': '^.*',
  'reject-paths': '^/api/.*/pods/.*/exec,^/api/.*/pods/.*/attach',
  'reject-methods': '^$',
} as const;

const flagTable = {
  port: {
    type: 'string',
    short: 'p',
    hint: 'PORT',
    about: 'port to listen on; 0: any free port',
    usual: `${defaultPort}`,
  },
  address: { type: 'string', hint: 'ADDRESS', about: 'IP address to listen on', usual: '127.0.0.1' },
  'unix-socket': {
    type: 'string',
    short: 'u',
    hint: 'PATH',
    about: 'listen on this unix socket, which only the user may open',
  },
  'api-prefix': { type: 'string', hint: 'PATH', about: 'path under which the API is served', usual: '/' },
  'append-server-path': {
    type: 'boolean',
    about: "put the path of the server's URL in front of each path",
  },
  www: { type: 'string', short: 'w', hint: 'FOLDER', about: 'also serve the files of this folder' },
  'www-prefix': {
    type: 'string',
    short: 'P',
    hint: 'PATH',
    about: 'path under which the files are served',
    usual: '/static/',
  },
  'accept-hosts': {
    type: 'string',
    hint: 'REGEXP,…',
    about: 'accept only requests for these hosts, and from pages of them',
    usual: usual['accept-hosts'],
  },
  'accept-paths': {
    type: 'string',
    hint: 'REGEXP,…',
    about: 'forward only these paths',
    usual: usual['accept-paths'],
  },
  'reject-paths': {
    type: 'string',
    hint: 'REGEXP,…',
    about: 'never forward these paths',
    usual: usual['reject-paths'],
  },
  'reject-methods': {
    type: 'string',
    hint: 'REGEXP,…',
    about: 'never forward these methods, such as POST,PUT,PATCH',
    usual: usual['reject-methods'],
  },
  'disable-filter': {
    type: 'boolean',
    about: 'forward every request, also those that web pages make without your knowledge (dangerous)',
  },
  keepalive: {
    type: 'string',
    hint: 'DURATION',
    about: 'idle time of a connection to the server before it is probed; 0: never',
    usual: '15s',
  },
} as const satisfies FlagTable;

export const proxy: Verb = {
  about: 'serve the API of the cluster at a port of this machine, with your credentials',
  group: 'Troubleshooting and Debugging Commands',
  flags: flagTable,
  examples: [
    'ctl proxy # serve the API at a port of this machine',
    'ctl proxy --port=8011 --www=./site --www-prefix=/my/ # serve also files of a directory',
    'ctl proxy --port=0 --api-prefix=/k8s-api --reject-methods=POST,PUT,PATCH,DELETE # serve only reads, at a free port',
    'ctl proxy --unix-socket=/tmp/api.sock # serve it at a socket of this machine',
  ],
  async run({ flags, io, cluster }) {
    const folder = flags.text('www') || undefined;
    const settings = settingsOf(flags, folder);
    const place = placeOf(flags);
    const dialing = await cluster().dial('');
    const appendsServerPath = flags.on('append-server-path');
    for (const text of warnings(flags, dialing, folder)) io.err(`Warning: ${text}\n`);
    const keepAliveMs = flags.duration('keepalive') ?? 15_000;
    const forwarder = new ApiForwarder({ dialing, appendsServerPath, keepAliveMs, clock: io.clock });
    await serve(proxyServer(forwarder, settings, folder ?? ''), place, io);
    forwarder.close();
  },
};

function settingsOf(flags: Flags, folder: string | undefined): ProxySettings {
  const patterns = (flag: keyof typeof usual) => patternsOf(flag, flags.text(flag) ?? usual[flag]);
  return {
    apiPrefix: prefixOf(flags, 'api-prefix', '/'),
    filePrefix: folder === undefined ? undefined : prefixOf(flags, 'www-prefix', '/static/'),
    filter: flags.on('disable-filter')
      ? undefined
      : {
          acceptHosts: patterns('accept-hosts'),
          acceptPaths: patterns('accept-paths'),
          rejectPaths: patterns('reject-paths'),
          rejectMethods: patterns('reject-methods'),
        },
  };
}

function prefixOf(flags: Flags, flag: 'api-prefix' | 'www-prefix', otherwise: string): string {
  const text = flags.text(flag) ?? otherwise;
  if (!/^\/[\w./~-]*$/.test(text) || /\/(?:\/|\.\.?(?:\/|$))/.test(text))
    throw new UsageError(`--${flag}: expected a path such as /my/, got ${JSON.stringify(text)}`);
  return text.endsWith('/') ? text : `${text}/`;
}

type Place = { readonly socket: string } | { readonly host: string; readonly port: number };

function placeOf(flags: Flags): Place {
  const port = flags.whole('port') ?? defaultPort;
  if (port < 0 || port > 65_535) throw new UsageError(`--port: expected a port from 0 to 65535, got ${port}`);
  const socket = flags.text('unix-socket');
  if (socket && port !== defaultPort)
    throw new UsageError('ctl proxy: cannot set --unix-socket and --port at the same time');
  if (socket) return { socket };
  return { host: (flags.text('address') || '127.0.0.1').replace(/^\[(.*)\]$/, '$1'), port };
}

function warnings(flags: Flags, { url }: Dialing, folder: string | undefined): string[] {
  const { pathname } = new URL(url);
  const isHidden = !flags.on('append-server-path') && pathname !== '/';
  return [
    ...(isHidden
      ? [
          `Your kube context contains a server path ${pathname}, use --append-server-path to automatically append the path to each request`,
        ]
      : []),
    ...(flags.on('disable-filter') && !flags.text('unix-socket')
      ? ['Request filter disabled, your proxy is vulnerable to XSRF attacks, please be cautious']
      : []),
    ...(folder === undefined ? [] : folderWarnings(folder)),
  ];
}

function folderWarnings(folder: string): string[] {
  try {
    return statSync(folder).isDirectory() ? [] : [`Static file directory ${folder} is not a directory`];
  } catch (error) {
    return [`Failed to stat static file directory ${folder}: ${errorMessage(error)}`];
  }
}

function proxyServer(forwarder: ApiForwarder, settings: ProxySettings, folder: string): Server {
  // An upload may take as long as it needs; the head of a request may not.
  const server = createServer({ requestTimeout: 0, headersTimeout: 60_000 });
  server.on('request', (request, answer) => {
    const action = actionOf(request, settings);
    if (action.kind === 'forward') void forwarder.request(request, answer, action.path);
    else if (action.kind === 'file') void serveFile(folder, action.path, request, answer);
    else if (action.kind === 'refuse') refuse(answer, action.status, action.text);
    else refuse(answer, 301, 'Moved Permanently', { location: action.location });
  });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    const action = actionOf(request, settings);
    if (action.kind === 'forward') void forwarder.upgrade(request, socket, head, action.path);
    else
      refuseUpgrade(
        socket,
        action.kind === 'refuse' ? action.status : 404,
        'the proxy does not forward this upgrade',
      );
  });
  return server;
}

const actionOf = (request: IncomingMessage, settings: ProxySettings): ProxyAction =>
  proxyAction(
    {
      method: request.method ?? '',
      target: request.url ?? '',
      hosts: request.headersDistinct.host ?? [],
      origin: request.headers.origin,
    },
    settings,
  );

/** Serves until the user interrupts. */
async function serve(server: Server, place: Place, { out, signal }: Io): Promise<void> {
  const sockets = new OpenSockets(server);
  const where = 'socket' in place ? place.socket : hostPort(place.host, place.port);
  try {
    await listen(server, place);
  } catch (error) {
    throw new Error(`cannot listen on ${where}: ${errorMessage(error)}`);
  }
  const address = server.address() as AddressInfo | string;
  out(
    `Starting to serve on ${typeof address === 'string' ? address : hostPort(address.address, address.port)}\n`,
  );
  await aborted(signal);
  server.close();
  sockets.destroyAll();
}

async function listen(server: Server, place: Place): Promise<void> {
  const listening = once(server, 'listening');
  if (!('socket' in place)) {
    server.listen(place);
    await listening;
    return;
  }
  // A socket that an earlier proxy left is replaced; any other file is an error.
  if (lstatSync(place.socket, { throwIfNoEntry: false })?.isSocket()) rmSync(place.socket);
  const mask = process.umask(0o077);
  try {
    server.listen(place.socket);
  } finally {
    process.umask(mask);
  }
  await listening;
}
