/**
 * Runs a scenario of a controller again and again: each time another of its requests goes wrong, or its
 * process ends there. The controller is called as its queue would: again after an error, and with a cache
 * that shows writes late.
 */
import type { KubeObject, ObjectKey } from '../../../src/apimachinery/meta.ts';
import type { ResourceRef } from '../../../src/apimachinery/resource-definition.ts';
import { newStatusError } from '../../../src/apimachinery/status-error.ts';
import type { ControllerFactory } from '../../../src/controller-runtime/definition.ts';
import { verifyAfter } from '../../../src/controller-runtime/observed-writes.ts';
import { ScriptedWorld } from './scripted-world.ts';

/**
 * What becomes of the request: `lost` is carried out, and `killed` is carried out and the last of its
 * process.
 */
const manners = ['InternalError', 'Forbidden', 'Conflict', 'lost', 'killed'] as const;
type Manner = (typeof manners)[number];

/** Times that a controller is called in a row, before and after its cache shows what it has written. */
const looks = 2;
const mostRounds = 12;

export interface ScenarioOptions {
  readonly factory: ControllerFactory;
  readonly keys: readonly ObjectKey[];
  /** Kinds that the cache shows, the first ones first. */
  readonly kinds: readonly ResourceRef[];
  /** What other components do between two looks of the controller, such as agents that start pods. */
  readonly others?: (world: ScriptedWorld) => void;
}

/** A world whose controller may be another one after a request. */
export class UnrulyWorld {
  readonly #options: ScenarioOptions;
  readonly #manner: Manner | undefined;
  readonly #at: number;
  #requests = 0;
  #processes = 0;
  #isDead = false;
  server: ScriptedWorld;
  /** Events that the processes before have made. */
  readonly told: string[] = [];
  /** Whether a process has ended in the middle. */
  get wasKilled(): boolean {
    return this.#processes > 1;
  }

  /** Whether an answer was lost. */
  get hasLost(): boolean {
    return this.#manner === 'lost' || this.#manner === 'killed';
  }

  constructor(options: ScenarioOptions, manner?: Manner, at = Number.POSITIVE_INFINITY) {
    this.#options = options;
    this.#manner = manner;
    this.#at = at;
    this.server = this.#begin();
  }

  get requests(): number {
    return this.#requests;
  }

  /** The controller is called until it asks for nothing any more, however that ends. */
  async settle(): Promise<void> {
    for (let round = 0; round < mostRounds; round++) {
      const before = this.#requests;
      for (let look = 0; look < looks; look++) await this.#look();
      await this.pass(verifyAfter);
      this.#options.others?.(this.server);
      for (const kind of this.#options.kinds) this.server.sync(kind);
      if (this.#requests === before && round > 0) return;
    }
    throw new Error(`the controller still writes after ${mostRounds} rounds`);
  }

  /** What the controller does by itself happens meanwhile. */
  async pass(ms: number): Promise<void> {
    await this.server.clock.advance(ms);
    if (this.#isDead) this.#restart();
  }

  async #look(): Promise<void> {
    for (const key of this.#options.keys) {
      await this.server.reconcile(key).catch(() => undefined);
      if (this.#isDead) this.#restart();
    }
  }

  #begin(): ScriptedWorld {
    const process = ++this.#processes;
    const server = new ScriptedWorld(this.#options.factory, 1000 * process);
    const hasEnded = () => this.#isDead || process !== this.#processes;
    server.refuse = (verb) => (hasEnded() ? new Error('the process has ended') : this.#refusal(verb));
    server.loses = (verb) => hasEnded() || this.#loses(verb);
    return server;
  }

  #refusal(verb: string): Error | undefined {
    if (verb === 'get') return undefined;
    const isHere = this.#requests++ === this.#at;
    const manner = this.#manner;
    if (!isHere || manner === undefined || manner === 'lost' || manner === 'killed') return undefined;
    return newStatusError(manner, 'not this time');
  }

  #loses(verb: string): boolean {
    if (verb === 'get' || this.#requests !== this.#at + 1) return false;
    if (this.#manner === 'killed') this.#isDead = true;
    return this.#isDead || this.#manner === 'lost';
  }

  /** The next process has a cache that shows what is stored. */
  #restart(): void {
    const before = this.server;
    this.#isDead = false;
    this.told.push(...before.told);
    this.server = this.#begin();
    this.server.clock.spend(before.clock.monotonic());
    for (const kind of this.#options.kinds)
      for (const object of before.all(kind as ResourceRef<KubeObject>)) this.server.put(kind, object);
  }
}

/**
 * The scenario as it should go, and then once for each request and each manner. Fails with the request and
 * what became of it.
 */
export async function atEachRequest(
  options: ScenarioOptions,
  scenario: (world: UnrulyWorld) => Promise<void>,
): Promise<void> {
  const plain = new UnrulyWorld(options);
  await scenario(plain);
  for (const manner of manners)
    for (let at = 0; at < plain.requests; at++)
      try {
        await scenario(new UnrulyWorld(options, manner, at));
      } catch (error) {
        throw new Error(`request ${at} of ${plain.requests}: ${manner}`, { cause: error });
      }
}
