/**
 * Removes what builds left on this machine: containers of an agent that was killed, and images of functions
 * that no longer exist.
 */
import { rm } from 'node:fs/promises';
import { parseFunctionImage } from '../../api/minik8s/v1/function-image.ts';
import { functionVersionResource } from '../../api/minik8s/v1/function-version.ts';
import { isNotFound } from '../../apimachinery/status-error.ts';
import { backoffMs } from '../../base/backoff.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import { RuntimeError } from '../../docker/runtime-error.ts';
import type { ContainerRuntime } from '../runtime/runtime.ts';
import type { BuildEngine } from './build-engine.ts';
import { logPath } from './build-log.ts';

export interface FunctionChoresOptions {
  readonly client: Client;
  readonly engine: Pick<BuildEngine, 'images' | 'removeLeft'>;
  readonly runtime: Pick<ContainerRuntime, 'removeImage' | 'usedImages'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly dataDir: string;
}

const periodMs = 600_000;
/** Delay after a pod has gone: its function may be about to be deleted too. */
const settleMs = 60_000;
const backoff = { initialMs: 1000, maxMs: 60_000 };

export class FunctionChores {
  readonly #options: FunctionChoresOptions;
  readonly #left = Promise.withResolvers<void>();
  #wake = Promise.withResolvers<void>();

  constructor(options: FunctionChoresOptions) {
    this.#options = options;
  }

  /** Resolves once no container of an earlier agent is left: until then nothing may be built. */
  get ready(): Promise<void> {
    return this.#left.promise;
  }

  /** Must be called when a pod has gone, because its image may be unused soon. */
  podGone(): void {
    this.#wake.resolve();
  }

  /** Works until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const pause = (ms: number, until: AbortSignal) => sleep(clock, ms, until).catch(() => undefined);
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        await this.#options.engine.removeLeft();
        break;
      } catch {
        // The engine is unreachable, which the agent reports.
        await pause(backoffMs(backoff, failures), signal);
      }
    }
    this.#left.resolve();
    while (!signal.aborted) {
      await this.look().catch((error) => {
        log.warn('cannot look for images of functions that are gone', { error: errorMessage(error) });
      });
      const woken = new AbortController();
      await Promise.race([pause(periodMs, AbortSignal.any([signal, woken.signal])), this.#wake.promise]);
      woken.abort();
      await pause(settleMs, signal);
      this.#wake = Promise.withResolvers();
    }
  }

  /**
   * Removes the images whose FunctionVersion is gone. A version that this node may no longer read counts as
   * present.
   */
  async look(): Promise<void> {
    const { client, engine, runtime, log, dataDir } = this.#options;
    const found = await engine.images();
    if (found.length === 0) return;
    const used = await runtime.usedImages();
    for (const { id, image, version } of found) {
      const namespace = parseFunctionImage(image)?.namespace;
      if (used.has(id) || namespace === undefined || version === '') continue;
      try {
        await client.resource(functionVersionResource).get(version, namespace);
      } catch (error) {
        if (!isNotFound(error)) continue;
        try {
          await runtime.removeImage(image);
        } catch (problem) {
          // A container was created from the image in the meantime.
          if (problem instanceof RuntimeError && problem.reason === 'Conflict') continue;
          throw problem;
        }
        await rm(logPath(dataDir, image), { force: true });
        log.info('removed the image of a function that is gone', { image });
      }
    }
  }
}
