/**
 * Runs a scenario of a controller repeatedly. In each run another request of the controller fails, or its
 * process ends at that request. The controller is called as its queue would call it: again after an error,
 * and with a cache that shows writes late.
 */
import type { KubeObject, ObjectKey } from '../../../src/apimachinery/meta.ts';
import type { ResourceRef } from '../../../src/apimachinery/resource-definition.ts';
import { newStatusError } from '../../../src/apimachinery/status-error.ts';
import type { ControllerFactory } from '../../../src/controller-runtime/definition.ts';
import { verifyAfter } from '../../../src/controller-runtime/observed-writes.ts';
import { ScriptedWorld } from './scripted-world.ts';

/**
 * Outcomes of a request: `lost` is carried out but its answer is lost, and `killed` is carried out and the
 * process ends.
 */
const manners = ['InternalError', 'Forbidden', 'Conflict', 'lost', 'killed'] as const;
type Manner = (typeof manners)[number];

/** Number of calls in a row, before and after the cache shows the controller's writes. */
const looks = 2;
const maxRounds = 12;

export interface ScenarioOptions {
  readonly factory: ControllerFactory;
  readonly keys: readonly ObjectKey[];
  /** Kinds in the cache, in the order in which the cache is updated. */
  readonly kinds: readonly ResourceRef[];
  /** Work of other components between two calls of the controller, such as agents that start pods. */
  readonly others?: (world: ScriptedWorld) => void;
}

/** A world whose controller process may be replaced after a request. */
export class UnrulyWorld {
  readonly #options: ScenarioOptions;
  readonly #manner: Manner | undefined;
  readonly #at: number;
  #requests = 0;
  #processes = 0;
  #isDead = false;
  server: ScriptedWorld;
  /** Events of the earlier processes. */
  readonly told: string[] = [];
  /** True if a process has ended before it was done. */
  get wasKilled(): boolean {
    return this.#processes > 1;
  }

  /** True if an answer was lost. */
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

  /** Calls the controller until it makes no more requests, with any outcome. */
  async settle(): Promise<void> {
    for (let round = 0; round < maxRounds; round++) {
      const before = this.#requests;
      for (let look = 0; look < looks; look++) await this.#look();
      await this.pass(verifyAfter);
      this.#options.others?.(this.server);
      for (const kind of this.#options.kinds) this.server.sync(kind);
      if (this.#requests === before && round > 0) return;
    }
    throw new Error(`the controller still writes after ${maxRounds} rounds`);
  }

  /** Advances the time; the controller's own timers run meanwhile. */
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

  /** Starts the next process, with a cache that shows the stored objects. */
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
 * Runs the scenario without failures, and then once for each request and each manner. Fails with the request
 * and its outcome.
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
