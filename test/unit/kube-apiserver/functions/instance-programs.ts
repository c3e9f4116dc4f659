/**
 * Programs of instances, each behind connections within this process: what a gateway calls, with all that can
 * go wrong.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type Duplex, duplexPair } from 'node:stream';
import { silentLogger } from '../../../../src/base/log.ts';
import { Registry } from '../../../../src/base/metrics/registry.ts';
import { Gateway } from '../../../../src/kube-apiserver/functions/gateway.ts';
import { InstanceConnections } from '../../../../src/kube-apiserver/functions/instance-connections.ts';
import type { Cache } from '../../../../src/storage/cache.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';
import { FakeCache, fn, pod } from './function-cache.ts';

export interface Program {
  /** Requests that it has had: method, path, headers and body. */
  readonly asked: Asked[];
  /** Connections that are open. */
  readonly connections: Set<Duplex>;
  /** Does not listen while this is set. */
  isDeaf: boolean;
  answer: (request: IncomingMessage, respond: Parameters<RequestListener>[1]) => void;
  /** Answers as soon as it has the head of a request, and reads no body. */
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

  /** Calls that are under way at this instance. */
  underWay(name: string): number | undefined {
    return this.gateway.callsOf('default', 'f').instances.known(`uid-${name}`)?.underWay;
  }

  /** An instance of the function, whose program answers 200 with its name. */
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
    // What a pool of connections asks of a socket; its own timeouts are those of real time.
    const own = () => near;
    return Object.assign(near, { setTimeout: own, setKeepAlive: own, setNoDelay: own, ref: own, unref: own });
  }
}

/** Answers that the program has not called its handler, and why. */
export const refusing =
  (why: string, status = 503): Program['answer'] =>
  (_, respond) =>
    void respond.writeHead(status, { 'function-not-called': why }).end();

/** Breaks the connection off. */
export const cut: Program['answer'] = ({ socket }) => void socket.destroy();
