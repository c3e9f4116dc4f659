/**
 * Cleans up after builds on this machine: removes containers of an agent that was killed and images of
 * functions that no longer exist, and reports images whose build could not be reported.
 */
import { rm } from 'node:fs/promises';
import { isNotFound } from '../../../apimachinery/status-error.ts';
import { Backoff } from '../../../base/backoff.ts';
import { type Clock, rfc3339 } from '../../../base/clock.ts';
import { keepDoing, retry, Wake } from '../../../base/keep-doing.ts';
import { errorMessage, type Logger } from '../../../base/log.ts';
import type { Client } from '../../../client/client.ts';
import { RuntimeError } from '../../../docker/runtime-error.ts';
import type { ContainerRuntime } from '../../../kubelet/runtime/runtime.ts';
import { parseFunctionImage } from '../api/function-image.ts';
import { type FunctionVersion, functionVersionResource } from '../api/function-version.ts';
import type { BuildEngine, BuiltImage } from './build-engine.ts';
import { logPath } from './build-log.ts';
import { withPresent } from './plan/build-status.ts';
import { changeStatus } from './version-status.ts';

export interface FunctionChoresOptions {
  readonly client: Client;
  readonly engine: Pick<BuildEngine, 'images' | 'removeLeft' | 'removeDiscarded'>;
  readonly runtime: Pick<ContainerRuntime, 'removeImage' | 'usedImages'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly nodeName: string;
  readonly dataDir: string;
}

const periodMs = 600_000;
/** Delay after a pod was removed: its function may be about to be deleted too. */
const settleMs = 60_000;
const delays = { initialMs: 1000, maxMs: 60_000 };

export class FunctionChores {
  readonly #options: FunctionChoresOptions;
  readonly #left = Promise.withResolvers<void>();
  readonly #wake = new Wake();

  constructor(options: FunctionChoresOptions) {
    this.#options = options;
  }

  /** Resolves once no container of an earlier agent is left: until then nothing may be built. */
  get ready(): Promise<void> {
    return this.#left.promise;
  }

  /** Must be called when a pod was removed, because its image may be unused soon. */
  podGone(): void {
    this.#wake.call();
  }

  /** Works until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    // An unreachable engine is reported by the agent, so nothing is logged here.
    const quiet = { backoff: new Backoff(delays), onError: () => undefined };
    await retry({ clock, signal, ...quiet }, () => this.#options.engine.removeLeft());
    this.#left.resolve();
    const onError = (error: unknown) =>
      log.warn('cannot clean up the images of functions; trying again later', {
        error: errorMessage(error),
      });
    const turns = { wake: this.#wake, restMs: periodMs, settleMs, onError };
    await keepDoing({ clock, signal, ...turns }, () => this.look());
  }

  /**
   * Checks each image that was built here. Removes it if its FunctionVersion is gone and no container uses
   * it, and reports it as built if the node could not do so after the build. A version that this node may no
   * longer read counts as present. Rejects with the first failure after all images were checked.
   */
  async look(): Promise<void> {
    const { engine, runtime } = this.#options;
    const faults: unknown[] = [];
    const keep = (error: unknown) => void faults.push(error);
    await engine.removeDiscarded().catch(keep);
    const found = await engine.images();
    const used = found.length === 0 ? new Set<string>() : await runtime.usedImages();
    for (const one of found) await this.#lookAt(one, used).catch(keep);
    if (faults.length > 0) throw faults[0];
  }

  async #lookAt({ id, image, version: name }: BuiltImage, used: ReadonlySet<string>): Promise<void> {
    const { client } = this.#options;
    const namespace = parseFunctionImage(image)?.namespace;
    if (namespace === undefined || name === '') return;
    let version: FunctionVersion;
    try {
      version = await client.resource(functionVersionResource).get(name, namespace);
    } catch (error) {
      if (isNotFound(error) && !used.has(id)) await this.#remove(image);
      return;
    }
    if (version.spec.image === image) await this.#report(version);
  }

  async #remove(image: string): Promise<void> {
    const { runtime, log, dataDir } = this.#options;
    try {
      await runtime.removeImage(image);
    } catch (error) {
      // A container was created from the image in the meantime.
      if (error instanceof RuntimeError && error.reason === 'Conflict') return;
      throw error;
    }
    await rm(logPath(dataDir, image), { force: true });
    log.info('removed the image of a function that is gone', { image });
  }

  async #report(version: FunctionVersion): Promise<void> {
    const { client, nodeName, clock } = this.#options;
    const of = { nodeName, at: rfc3339(clock.now()) };
    if (withPresent(version.status, of) === version.status) return;
    await changeStatus(client, version, (status) => withPresent(status, of));
  }
}
