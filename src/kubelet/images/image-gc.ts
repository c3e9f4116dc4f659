/** Removes unused images that were pulled for pods, when the disk of images is nearly full. */
import type { Node } from '../../api/core/v1/node/node.ts';
import type { Clock } from '../../base/clock.ts';
import { keepDoing } from '../../base/keep-doing.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import { RuntimeError } from '../../docker/runtime-error.ts';
import type { ContainerRuntime } from '../runtime/runtime.ts';
import type { ClusterImages } from './cluster-images.ts';
import type { ImageRecord } from './image-record.ts';
import {
  bytesToFree,
  type FreeableImage,
  freeableImages,
  type ImageThresholds,
} from './plan/images-to-free.ts';

export interface ImageGcOptions {
  readonly runtime: Pick<ContainerRuntime, 'listImages' | 'removeImage' | 'usedImages'>;
  readonly record: Pick<ImageRecord, 'images' | 'look'>;
  readonly thresholds: ImageThresholds;
  /** Returns the images that the cluster holds; undefined where it holds none. */
  readonly clusterImages?: () => Pick<ClusterImages, 'mayRemove' | 'removed'> | undefined;
  /** Returns the usage of the images' file system, in bytes. */
  readonly readUsage: () => Promise<{ readonly size: number; readonly available: number }>;
  /** Returns the Node that events refer to; undefined while it is not known. */
  readonly node: () => Node | undefined;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
}

const periodMs = 300_000;

export class ImageGc {
  readonly #options: ImageGcOptions;
  #failedBefore = false;
  #working: Promise<unknown> = Promise.resolve();

  constructor(options: ImageGcOptions) {
    this.#options = options;
  }

  /** Collects at once and then every five minutes, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    await keepDoing({ clock, signal, restMs: periodMs }, () => this.collect());
  }

  /**
   * Frees the disk space that the thresholds require. Never rejects: a second consecutive failure is an
   * event.
   */
  async collect(): Promise<void> {
    try {
      await this.#inTurn(() => this.#collect());
      this.#failedBefore = false;
    } catch (error) {
      const problem = errorMessage(error);
      this.#options.log.warn('cannot free the disk of images', { error: problem });
      if (this.#failedBefore) this.#emit('ImageGCFailed', problem);
      this.#failedBefore = true;
    }
  }

  /** Removes all images that may be removed; resolves with the number of bytes that were freed. */
  freeAll(): Promise<number> {
    return this.#inTurn(async () => this.#free(await this.#freeable(), Infinity));
  }

  async #collect(): Promise<void> {
    const { readUsage, thresholds } = this.#options;
    const freeable = await this.#freeable();
    const usage = await readUsage();
    if (usage.size <= 0) {
      this.#emit('InvalidDiskCapacity', 'invalid capacity 0 on image filesystem');
      throw new Error('the file system of images has no size');
    }
    const wanted = bytesToFree(usage, thresholds);
    if (wanted === 0) return;
    const freed = await this.#free(freeable, wanted);
    if (freed >= wanted) return;
    const message = `Failed to garbage collect required amount of images. Attempted to free ${wanted} bytes, but only found ${freed} bytes eligible to free.`;
    this.#emit('FreeDiskSpaceFailed', message);
    throw new Error(message);
  }

  async #freeable(): Promise<readonly FreeableImage[]> {
    const { runtime, record, thresholds, clock, clusterImages } = this.#options;
    const present = await runtime.listImages();
    // The used images are read after the list: a container that was created in between uses one of them.
    const used = await runtime.usedImages();
    await record.look(present, used);
    const { minAgeMs } = thresholds;
    const freeable = freeableImages(present, await record.images(), used, { now: clock.now(), minAgeMs });
    return freeable.filter(({ names }) => clusterImages?.()?.mayRemove(names) ?? true);
  }

  async #free(images: readonly FreeableImage[], wanted: number): Promise<number> {
    let freed = 0;
    for (const image of images) {
      if (freed >= wanted) break;
      if (await this.#remove(image)) freed += image.sizeBytes;
    }
    return freed;
  }

  /** Returns false if a container was created from the image in the meantime. */
  async #remove({ id, names, sizeBytes }: FreeableImage): Promise<boolean> {
    const { runtime, log } = this.#options;
    try {
      for (const name of names) await runtime.removeImage(name);
    } catch (error) {
      if (!(error instanceof RuntimeError && error.reason === 'Conflict')) throw error;
      return false;
    }
    this.#options.clusterImages?.()?.removed(names);
    log.info('removed an image that nothing uses', { image: names[0] ?? id, bytes: sizeBytes });
    return true;
  }

  /** Runs one collection at a time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#working.then(work, work);
    this.#working = turn.catch(() => undefined);
    return turn;
  }

  #emit(reason: string, message: string): void {
    const node = this.#options.node();
    if (node) this.#options.events.event(node, 'Warning', reason, message);
  }
}
