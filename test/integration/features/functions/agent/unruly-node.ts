/**
 * A node with the real parts that build functions, an engine and an API server. One request of a scenario is
 * rejected, loses its answer, or is the last of its process, which the next one then replaces.
 */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newConflict, newNotFound, newStatusError } from '../../../../../src/apimachinery/status-error.ts';
import { silentLogger } from '../../../../../src/base/log.ts';
import type { Client } from '../../../../../src/client/client.ts';
import { RuntimeError } from '../../../../../src/docker/runtime-error.ts';
import { BuildEngine } from '../../../../../src/features/functions/agent/build-engine.ts';
import { type FunctionsPart, nodeFunctions } from '../../../../../src/features/functions/agent/functions.ts';
import {
  type FunctionVersion,
  functionVersionResource,
} from '../../../../../src/features/functions/api/function-version.ts';
import type { NodeFeatureContext } from '../../../../../src/kubelet/node/node-feature.ts';
import { FakeBuildEngine, type Meeting } from '../../../../fixtures/fake-build-engine.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';

/**
 * `cut`: the request is not carried out; `lost`: it is carried out, but its answer is lost; `killed`: it is
 * carried out, and then its process ends.
 */
export const manners = ['Conflict', 'Forbidden', 'InternalError', 'cut', 'lost', 'killed'] as const;
export type Manner = (typeof manners)[number];

/** Virtual milliseconds that pass in one turn: builds end long before their time limit. */
const turnMs = 10;
const maxAttempts = 8;

export class UnrulyNode {
  readonly clock = new FakeClock();
  readonly engine: FakeBuildEngine;
  /** Names of the images in the node's record whose build has begun but not ended. */
  readonly recorded = new Set<string>();
  stored: FunctionVersion | undefined;
  /** Writes of another node right before a write that conflicts. */
  others: (stored: FunctionVersion) => FunctionVersion = (stored) => stored;
  /** Is called with each request before it is carried out. */
  onRequest: (request: string) => void = () => undefined;
  #process: { readonly functions: FunctionsPart; readonly stop: AbortController; running: Promise<void> };
  #isDead = false;
  #requests = 0;
  readonly #manner: Manner | undefined;
  readonly #at: number;
  readonly #dataDir: string;

  private constructor(engine: FakeBuildEngine, dataDir: string, manner: Manner | undefined, at: number) {
    this.engine = engine;
    this.#manner = manner;
    this.#at = at;
    this.#dataDir = dataDir;
    engine.meets = (call) => this.#meeting(call);
    this.#process = this.#begin();
  }

  static async start(manner?: Manner, at = Number.POSITIVE_INFINITY): Promise<UnrulyNode> {
    const dataDir = await mkdtemp(join(tmpdir(), 'minik8s-unruly-node-'));
    return new UnrulyNode(await FakeBuildEngine.start(), dataDir, manner, at);
  }

  /** Number of requests that may fail in one of these ways. */
  get requests(): number {
    return this.#requests;
  }

  /** Repeats the work, as an agent does after an error or a restart, until it succeeds. */
  async succeeds<T>(work: (functions: FunctionsPart) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const working = work(this.#process.functions).then(
        (result) => ({ result }),
        (error: unknown) => ({ error }),
      );
      const outcome = await this.#whileTimePasses(working, () => this.#isDead);
      if (this.#isDead) await this.restart();
      else if (outcome && 'result' in outcome) return outcome.result;
      else if (attempt === maxAttempts) throw new Error(`failed ${attempt} times`, { cause: outcome?.error });
    }
  }

  /** Ends the process; the next one begins with what the engine, the server and the disk have. */
  async restart(): Promise<void> {
    await this.#end();
    this.#isDead = false;
    this.#process = this.#begin();
  }

  async close(): Promise<void> {
    await this.#end();
    await this.engine.close();
    rmSync(this.#dataDir, { recursive: true });
  }

  async #end(): Promise<void> {
    const { functions, stop, running } = this.#process;
    stop.abort();
    const closing = functions.imageProviders.map((provider) => provider.close());
    await this.#whileTimePasses(Promise.all([running, ...closing]));
  }

  /** Returns undefined once nobody waits for the work any more. */
  async #whileTimePasses<T>(work: Promise<T>, isLeft = () => false): Promise<T | undefined> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    work.then(over, over);
    while (!isOver && !isLeft()) await this.clock.advance(turnMs);
    return isOver ? work : undefined;
  }

  #begin() {
    const { clock, engine, recorded } = this;
    const builds = new BuildEngine({ socketPath: engine.socketPath, owner: 'n1' });
    const functions = nodeFunctions({ builds }).start({
      ...{ clock, random: new SeededRandom(1), log: silentLogger, nodeName: 'n1', dataDir: this.#dataDir },
      exec: () => Promise.reject(new Error('nothing is run')),
      client: this.#client(),
      runtime: {
        findImage: (name: string) =>
          this.#local('findImage', () => (engine.images.has(name) ? ({ id: name } as never) : undefined)),
        usedImages: () => this.#local('usedImages', () => new Set<string>()),
        removeImage: (name: string) => this.#local('removeImage', () => void engine.images.delete(name)),
      },
      images: { ensure: async () => ({ id: 'base' }) as never },
      record: {
        pulling: async (name: string) => void recorded.add(name),
        pulled: async (name: string) => void recorded.delete(name),
        gaveUp: async (name: string) => void recorded.delete(name),
      },
      events: { event: () => undefined },
    } as unknown as NodeFeatureContext);
    const stop = new AbortController();
    return { functions, stop, running: functions.run?.(stop.signal) ?? Promise.resolve() };
  }

  /** Counts a request and returns the failure that it meets, if any. */
  #next(request: string): Manner | undefined {
    if (this.#isDead) return 'cut';
    this.onRequest(request);
    if (this.#requests++ !== this.#at) return undefined;
    if (this.#manner === 'killed') this.#isDead = true;
    return this.#manner;
  }

  #meeting(call: string): Meeting {
    const met = this.#next(call);
    if (met === 'killed') return 'lost';
    // The engine answers with a conflict only where the call has no purpose any more.
    if (met === 'Conflict') return undefined;
    return met === 'Forbidden' ? 403 : met === 'InternalError' ? 500 : met;
  }

  /** Calls the engine through another client than that of builds. */
  async #local<T>(what: string, carryOut: () => T): Promise<T> {
    const met = this.#next(what);
    if (met === 'Conflict' || met === undefined) return carryOut();
    if (met === 'lost' || met === 'killed') carryOut();
    throw new RuntimeError('Failed', `Docker cannot ${what}: not this time`);
  }

  #client(): Client {
    const ask = async <T>(verb: string, carryOut: () => T): Promise<T> => {
      const met = this.#next(verb);
      if (met === 'Conflict' && verb === 'get') return carryOut();
      if (met === 'Conflict' && this.stored) this.stored = written(this.others(this.stored));
      if (met === 'Forbidden' || met === 'InternalError') throw newStatusError(met, 'not this time');
      if (met === 'cut') throw new Error('the connection broke before it');
      const answer = carryOut();
      if (met === 'lost' || met === 'killed') throw new Error('the connection broke after it');
      return answer;
    };
    const there = (name: string) => {
      if (!this.stored) throw newNotFound(functionVersionResource, name);
      return this.stored;
    };
    const resource = () => ({
      get: (name: string) => ask('get', () => there(name)),
      updateStatus: (next: FunctionVersion) =>
        ask('updateStatus', () => {
          const { name } = next.metadata;
          if (there(name).metadata.resourceVersion !== next.metadata.resourceVersion)
            throw newConflict(functionVersionResource, name, 'it has changed');
          this.stored = written(next);
          return this.stored;
        }),
    });
    return { resource } as unknown as Client;
  }
}

const written = (version: FunctionVersion): FunctionVersion => {
  const resourceVersion = String(Number(version.metadata.resourceVersion) + 1);
  return { ...version, metadata: { ...version.metadata, resourceVersion } };
};

/**
 * Runs the scenario without failures, and then once for each request and each kind of failure. An error
 * names the request and its failure.
 */
export async function atEachRequestOfNode(scenario: (node: UnrulyNode) => Promise<void>): Promise<void> {
  const run = async (manner?: Manner, at?: number) => {
    const node = await UnrulyNode.start(manner, at);
    try {
      await scenario(node);
    } finally {
      await node.close();
    }
    return node.requests;
  };
  const count = await run();
  for (const manner of manners)
    for (let at = 0; at < count; at++)
      try {
        await run(manner, at);
      } catch (error) {
        throw new Error(`request ${at} of ${count}: ${manner}`, { cause: error });
      }
}
