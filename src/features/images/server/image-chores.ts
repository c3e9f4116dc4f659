/**
 * Chores of one master: its entry in the status of Images, abandoned uploads, and blobs of no Image.
 */
import { StatusError } from '../../../apimachinery/status-error.ts';
import type { Clock } from '../../../base/clock.ts';
import { keepDoing } from '../../../base/keep-doing.ts';
import { errorMessage, type Logger } from '../../../base/log.ts';
import type { Image } from '../api/image.ts';
import { blobsOf } from '../api/image-content.ts';
import { type ImageChore, imageChores } from './image-chores-plan.ts';
import type { ImageObjects } from './image-objects.ts';
import type { ImageStore } from './image-store.ts';

const restMs = 60_000;

export interface ImageChoresOptions {
  readonly store: ImageStore;
  readonly objects: () => ImageObjects;
  readonly clock: Clock;
  readonly log: Logger;
}

export class ImageChores {
  readonly #options: ImageChoresOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: ImageChoresOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    this.#running = keepDoing({ clock, signal, restMs }, () => this.#try()).catch(() => undefined);
  }

  stop(): Promise<void> {
    this.#stop.abort();
    return this.#running;
  }

  async #try(): Promise<void> {
    try {
      await this.look();
    } catch (error) {
      if (!this.#stop.signal.aborted)
        this.#options.log.warn('cannot clean up images', { error: errorMessage(error) });
    }
  }

  async look(): Promise<void> {
    const { store, objects, clock } = this.#options;
    const images = await objects().list();
    const seen = await Promise.all(images.map((image) => this.#see(image)));
    for (const { image, chore } of imageChores(seen, store.master, clock.now()))
      await unlessChanged(this.#do(image, chore));
    const wanted = (await objects().list()).flatMap(({ spec, status }) => [
      ...blobsOf(spec),
      ...(status?.content ? blobsOf(status.content) : []),
    ]);
    await store.keepOnly(new Set(wanted.map(({ digest }) => digest)));
  }

  #do(image: Image, chore: ImageChore): Promise<unknown> {
    const { store, objects } = this.#options;
    if (chore === 'remove') return objects().remove(image);
    if (chore === 'revert') return objects().revert(image);
    const digest = chore === 'keeps' ? image.status?.content?.config.digest : null;
    return objects().patchStatus(image, { masters: { [store.master]: digest } });
  }

  async #see(image: Image) {
    const { store } = this.#options;
    const content = image.status?.content;
    const counts = await Promise.all(
      (content ? blobsOf(content) : []).map(async (blob) => (await store.received(blob)) === blob.size),
    );
    return {
      image,
      keeps: content !== undefined && counts.every(Boolean),
      lastPieceAt: await store.lastPieceAt(blobsOf(image.spec)),
    };
  }
}

/** Ignores that another write has changed the Image: the next round decides again. */
async function unlessChanged(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    const reason = error instanceof StatusError ? error.status.reason : undefined;
    if (reason !== 'Conflict' && reason !== 'NotFound') throw error;
  }
}
