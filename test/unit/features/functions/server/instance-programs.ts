/**
 * Programs of instances, each behind connections within this process: a gateway calls them, and every failure
 * can be simulated.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type Duplex, duplexPair } from 'node:stream';
import { silentLogger } from '../../../../../src/base/log.ts';
import { Registry } from '../../../../../src/base/metrics/registry.ts';
import { Gateway } from '../../../../../src/features/functions/server/gateway.ts';
import { InstanceConnections } from '../../../../../src/features/functions/server/instance-connections.ts';
import type { Cache } from '../../../../../src/storage/cache.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { FakeCache, fn, pod } from './function-cache.ts';

export interface Program {
  /** Requests that the program has received: method, path, headers and body. */
  readonly asked: Asked[];
  /** Open connections. */
  readonly connections: Set<Duplex>;
  /** While true, the program does not listen. */
  isDeaf: boolean;
  answer: (request: IncomingMessage, respond: Parameters<RequestListener>[1]) => void;
  /** True if the program answers as soon as it has the head of a request, without reading the body. */
  answersEarly?: boolean;
}

export interface Asked {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export class InstancePrograms {
  readonly clock = new FakeClock();
  readonly cache = new FakeCache();
  readonly random = new SeededRandom(1);
  readonly page = new Registry();
  readonly programs = new Map<string, Program>();
  readonly connections = new InstanceConnections(async ({ metadata }) => this.#dial(metadata.name));
  readonly gateway = new Gateway({
    ...{ cache: this.cache as unknown as Cache, clock: this.clock, log: silentLogger, master: 'here' },
    writeDemand: async () => undefined,
    page: this.page,
  });
  readonly #servers = new Map<string, Server>();

  constructor() {
    this.cache.put(fn());
  }

  get server() {
    const { clock, gateway, connections, random } = this;
    return { clock, gateway, connections, random };
  }

  /** Returns the number of calls in progress at this instance. */
  underWay(name: string): number | undefined {
    return this.gateway.callsOf('default', 'f').instances.known(`uid-${name}`)?.underWay;
  }

  /** Adds an instance of the function, whose program answers 200 with its name. */
  add(name: string): Program {
    const program: Program = {
      ...{ asked: [], connections: new Set(), isDeaf: false },
      answer: (_, respond) => void respond.end(name),
    };
    const server = createServer(async (request, respond) => {
      const chunks: Buffer[] = [];
      if (program.answersEarly) return program.answer(request, respond);
      try {
        for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      } catch {
        return;
      }
      const { method, url: path, headers } = request;
      program.asked.push({ method, path, headers, body: Buffer.concat(chunks).toString() });
      program.answer(request, respond);
    });
    this.programs.set(name, program);
    this.#servers.set(name, server);
    this.cache.put(pod(name));
    return program;
  }

  #dial(name: string): Duplex {
    const program = this.programs.get(name);
    if (!program || program.isDeaf) throw new Error('connection refused');
    const [near, far] = duplexPair();
    program.connections.add(far);
    far.on('error', () => undefined);
    far.once('close', () => program.connections.delete(far));
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
    this.#servers.get(name)?.emit('connection', far);
    // Functions that a connection pool calls on a socket; real timeouts would use real time.
    const own = () => near;
    return Object.assign(near, { setTimeout: own, setKeepAlive: own, setNoDelay: own, ref: own, unref: own });
  }
}

/** Answers that the program has not called its handler, with the reason. */
export const refusing =
  (why: string, status = 503): Program['answer'] =>
  (_, respond) =>
    void respond.writeHead(status, { 'function-not-called': why }).end();

/** Cuts the connection. */
export const cut: Program['answer'] = ({ socket }) => void socket.destroy();
