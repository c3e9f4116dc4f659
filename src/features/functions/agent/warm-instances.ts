/**
 * Turns a warm instance into an instance of the version that its label names: the version's files are copied
 * into the running container, and its program is signaled. The files are copied once per container; after a
 * restart of the agent only the signal is repeated.
 */
import { createHash } from 'node:crypto';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { isNotFound } from '../../../apimachinery/status-error.ts';
import { errorMessage } from '../../../base/log.ts';
import type { Client } from '../../../client/client.ts';
import type { EventRecorder } from '../../../controller-runtime/events.ts';
import type { ObservedPod } from '../../../kubelet/runtime/observed-pod.ts';
import { functionVersionResource } from '../api/function-version.ts';
import type { BuildEngine } from './build-engine.ts';
import { BuildError } from './plan/build-error.ts';
import { ownFolder } from './plan/image-contents.ts';
import { givenArchive, givenFile, givenProblem, givenVersion, isWarm } from './plan/warm-use.ts';

export interface WarmInstancesOptions {
  readonly client: Client;
  readonly engine: Pick<BuildEngine, 'hasFile' | 'give'>;
  readonly events: EventRecorder;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

export class WarmInstances {
  readonly #options: WarmInstancesOptions;
  /** Pods by uid, with the container that has been signaled. */
  readonly #signaled = new Map<string, string>();
  /** Uids of pods that were seen waiting: their containers have no files yet. */
  readonly #waiting = new Set<string>();

  constructor(options: WarmInstancesOptions) {
    this.#options = options;
  }

  /**
   * Returns the reason why the pod must end; undefined for none. Rejects when the engine or the API server
   * does not respond.
   */
  async see(pod: Pod, { containers }: ObservedPod): Promise<string | undefined> {
    const { uid, deletionTimestamp } = pod.metadata;
    const name = givenVersion(pod);
    if (name === undefined && isWarm(pod)) this.#waiting.add(uid);
    if (name === undefined || deletionTimestamp !== undefined) return undefined;
    const container = containers.find(({ state }) => state === 'running');
    if (!container || this.#signaled.get(uid) === container.id) return undefined;
    const problem = await this.#give(pod, container.id, name).catch(problemOf);
    if (problem !== undefined) return problem;
    this.#signaled.set(uid, container.id);
    this.#waiting.delete(uid);
    return undefined;
  }

  /**
   * Gives the version to the container unless that has it already. Returns the problem of the version, if
   * any.
   */
  async #give(pod: Pod, container: string, name: string): Promise<string | undefined> {
    const { client, engine, events } = this.#options;
    const { uid, namespace } = pod.metadata;
    const hasIt = !this.#waiting.has(uid) && (await engine.hasFile(container, `/${ownFolder}/${givenFile}`));
    if (hasIt) {
      await engine.give(container);
      return undefined;
    }
    const version = await client.resource(functionVersionResource).get(name, namespace);
    const problem = givenProblem(pod, version, sha256);
    if (problem !== undefined) return problem;
    await engine.give(container, givenArchive(version));
    events.event(pod, 'Normal', 'Given', `Became an instance of FunctionVersion ${name}`);
    return undefined;
  }

  forget(uid: string): void {
    this.#signaled.delete(uid);
    this.#waiting.delete(uid);
  }
}

/** Returns the message of a version that cannot be given to an instance; throws other errors. */
function problemOf(error: unknown): string {
  if (error instanceof BuildError || isNotFound(error)) return errorMessage(error);
  throw error;
}
