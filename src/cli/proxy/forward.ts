/** Forwards requests to the API server, with the credentials of `dialing` if it has any. */
import * as http from 'node:http';
import * as https from 'node:https';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../base/clock.ts';
import type { Dialing } from '../../client/https-transport.ts';
import { joinConnections } from '../../streams/join-connections.ts';
import { answerHeaders, requestHeaders } from './proxy-headers.ts';

export interface ForwarderOptions {
  readonly dialing: Dialing;
  /** True to put the path of the server's URL in front of each path. */
  readonly appendsServerPath: boolean;
  /** Idle time in milliseconds before the first keepalive probe; 0 for no probes. */
  readonly keepAliveMs: number;
  readonly clock: Clock;
  /** Change the headers of requests and answers, which are names and values alternately. */
  readonly toServer?: ChangeHeaders;
  readonly toClient?: ChangeHeaders;
}

type ChangeHeaders = (raw: readonly string[]) => readonly string[];

export class ApiForwarder {
  readonly #options: ForwarderOptions;
  readonly #agent: http.Agent;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    const { tls } = options.dialing;
    const keep = { keepAlive: true, keepAliveMsecs: options.keepAliveMs };
    this.#agent = isSecure(options.dialing)
      ? new https.Agent({ ...tls, ...keep })
      : new http.Agent({ ...tls, ...keep });
  }

  /** Resolves when the answer is sent; a broken connection on either side ends the other. */
  async request(client: http.IncomingMessage, answer: http.ServerResponse, path: string): Promise<void> {
    const outgoing = this.#begin(client, path);
    answer.once('close', () => outgoing.destroy());
    const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve);
      outgoing.on('error', reject);
    });
    // A server may answer before it has read the whole body: an error of sending is then no error.
    pipeline(client, outgoing).catch(() => undefined);
    try {
      const incoming = await answered;
      answer.writeHead(incoming.statusCode ?? 502, this.#answerHeaders(incoming));
      // The answer to a watch begins long before the first event.
      answer.flushHeaders();
      await pipeline(incoming, answer);
    } catch (error) {
      if (answer.headersSent) answer.destroy();
      else if (!answer.destroyed) refuse(answer, 500, this.#options.dialing.failed(error).message);
    }
  }

  /** Resolves when both connections are closed. */
  async upgrade(client: http.IncomingMessage, socket: Duplex, head: Buffer, path: string): Promise<void> {
    const outgoing = this.#begin(client, path, client.headers.upgrade);
    socket.once('close', () => outgoing.destroy());
    try {
      const { incoming, server } = await upgraded(outgoing);
      socket.write(headOf(incoming, this.#answerHeaders(incoming), server !== undefined));
      if (!server) return await pipeline(incoming, socket);
      if (server.first.length > 0) socket.write(server.first);
      if (head.length > 0) server.socket.write(head);
      await joinConnections(socket, server.socket, this.#options.clock);
    } catch (error) {
      refuseUpgrade(socket, 500, this.#options.dialing.failed(error).message);
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #answerHeaders({ rawHeaders }: http.IncomingMessage): string[] {
    const { toClient = same } = this.#options;
    return answerHeaders(toClient(rawHeaders));
  }

  #begin(client: http.IncomingMessage, path: string, upgrade?: string): http.ClientRequest {
    const { dialing, appendsServerPath, keepAliveMs, toServer = same } = this.#options;
    const url = new URL(dialing.url);
    const base = appendsServerPath ? url.pathname.replace(/\/$/, '') : '';
    const outgoing = (isSecure(dialing) ? https : http).request({
      agent: this.#agent,
      hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port,
      method: client.method,
      path: base + path,
      headers: requestHeaders(toServer(client.rawHeaders), dialing.headers, upgrade),
    });
    outgoing.setSocketKeepAlive(keepAliveMs > 0, keepAliveMs);
    if (upgrade !== undefined) outgoing.end();
    return outgoing;
  }
}

const same: ChangeHeaders = (raw) => raw;

const isSecure = ({ url }: Dialing): boolean => url.startsWith('wss:');

interface Upgraded {
  readonly incoming: http.IncomingMessage;
  /** Absent if the server answered without an upgrade. */
  readonly server?: { readonly socket: Duplex; readonly first: Buffer };
}

const upgraded = (outgoing: http.ClientRequest): Promise<Upgraded> =>
  new Promise((resolve, reject) => {
    outgoing.once('upgrade', (incoming, socket, first) => resolve({ incoming, server: { socket, first } }));
    outgoing.once('response', (incoming) => resolve({ incoming }));
    outgoing.on('error', reject);
  });

/** Returns the head of an answer; one without an upgrade ends with the connection. */
function headOf(
  { statusCode, statusMessage, headers }: http.IncomingMessage,
  pairs: readonly string[],
  up: boolean,
): string {
  const lines = pairs.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${pairs[index + 1]}`] : []));
  const connection = up
    ? ['Connection: Upgrade', `Upgrade: ${headers.upgrade ?? ''}`]
    : ['Connection: close'];
  return `${[`HTTP/1.1 ${statusCode} ${statusMessage}`, ...lines, ...connection].join('\r\n')}\r\n\r\n`;
}

/** Answers with one line of text. */
export function refuse(answer: http.ServerResponse, status: number, text: string, more: object = {}): void {
  const body = `${text}\n`;
  answer.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'content-length': Buffer.byteLength(body),
    ...more,
  });
  answer.end(body);
}

/** Answers a request for an upgrade with one line of text, and closes the connection. */
export function refuseUpgrade(socket: Duplex, status: number, text: string): void {
  const head = [
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ''}`,
    'Content-Type: text/plain; charset=utf-8',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}\n`);
}
