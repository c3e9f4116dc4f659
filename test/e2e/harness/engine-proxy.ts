/**
 * Proxy between an agent and its Docker engine that lets a test act at one of the calls: before the engine
 * receives it, while the engine works on it, or after it is done and before the answer is delivered.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';

export const moments = ['before', 'during', 'after'] as const;
export type Moment = (typeof moments)[number];

export interface Strike {
  readonly moment: Moment;
  /** The caller never gets the answer: its connection ends when this resolves. */
  act(): Promise<void>;
}

/** A call such as `POST /containers/create`, without the version, ids and the query. */
export type EngineCall = string;

export class EngineProxy {
  readonly #engine: string;
  readonly #server: Server;
  readonly #connections = new Set<Duplex>();
  /** Called for each call; undefined lets the call pass. */
  onCall: (call: EngineCall) => Strike | undefined = () => undefined;

  /** `engine` is the path of the engine's socket. */
  constructor(engine: string) {
    this.#engine = engine;
    this.#server = createServer((asked, answer) => this.#pass(asked, answer));
    this.#server.on('upgrade', (asked, socket, head) => this.#tunnel(asked, socket, head));
    this.#server.on('connection', (socket) => {
      this.#connections.add(socket);
      socket.on('error', () => socket.destroy()).once('close', () => this.#connections.delete(socket));
    });
    // A stream of events may be silent for a long time.
    this.#server.requestTimeout = 0;
    // An engine does not close idle connections.
    this.#server.keepAliveTimeout = 0;
  }

  async listen(path: string): Promise<void> {
    this.#server.listen(path);
    await once(this.#server, 'listening');
  }

  /** Ends every connection, as a killed engine does. */
  cut(): void {
    for (const socket of this.#connections) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }

  #pass(asked: IncomingMessage, answer: ServerResponse): void {
    const { method, url, headers } = asked;
    const strike = this.onCall(callOf(asked));
    const end = () => asked.socket.destroy();
    const struck = () => void strike?.act().finally(end);
    if (strike?.moment === 'before') {
      struck();
      return;
    }
    const onwards = request({ socketPath: this.#engine, method, path: url, headers, agent: false });
    answer.once('close', () => onwards.destroy());
    onwards.on('error', end);
    onwards.once('response', (answered) => {
      answered.on('error', end);
      if (strike?.moment === 'during') return;
      if (strike) {
        if (isEndless(url)) struck();
        else answered.once('end', struck).resume();
        return;
      }
      answer.writeHead(answered.statusCode ?? 500, answered.headers);
      // A client that waits for events needs the head before the first event.
      answer.flushHeaders();
      answered.pipe(answer);
    });
    asked.pipe(onwards);
    if (strike?.moment === 'during') onwards.once('finish', struck);
  }

  /** Passes bytes unchanged: the data after the head is not HTTP. */
  #tunnel(asked: IncomingMessage, socket: Duplex, head: Buffer): void {
    const strike = this.onCall(callOf(asked));
    const end = () => {
      socket.destroy();
      engine.destroy();
    };
    const struck = () => void strike?.act().finally(end);
    const engine = connect({ path: this.#engine, allowHalfOpen: true });
    engine.on('error', end).once('close', () => socket.destroy());
    socket.on('error', end).once('close', () => engine.destroy());
    if (strike?.moment === 'before') {
      struck();
      return;
    }
    const { rawHeaders } = asked;
    const lines = [`${asked.method} ${asked.url} HTTP/1.1`];
    for (let i = 0; i < rawHeaders.length; i += 2) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
    engine.write(`${lines.join('\r\n')}\r\n\r\n`);
    // The body belongs to the request; the data after it does not.
    asked
      .on('data', (chunk) => engine.write(chunk))
      .once('end', () => {
        engine.write(head);
        socket.pipe(engine);
      });
    if (!strike) engine.pipe(socket);
    else if (strike.moment === 'during') engine.once('ready', struck);
    else engine.once('data', struck);
  }
}

const isEndless = (url = '') => /\/events|follow=(1|true)/.test(url);

const callOf = ({ method, url = '' }: IncomingMessage): EngineCall =>
  `${method} ${url
    .replace(/\?.*/, '')
    .replace(/^\/v[\d.]+/, '')
    .replace(/\b[0-9a-f]{64}\b/, 'ID')
    .replace(/^\/images\/.*\/json$/, '/images/IMAGE/json')}`;
