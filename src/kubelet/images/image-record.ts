/**
 * The record of images that came to this machine for a pod, with the time at which each was last used; kept
 * in a file. Images that are not in the record, such as those that a user has pulled, are never removed from
 * the engine.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { replaceFile } from '../../os/replace-file.ts';
import type { RecordedImage } from './plan/images-to-free.ts';

export interface ImageRecordOptions {
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Content {
  /** Names of missing images for which a pull has begun. */
  readonly pulling: readonly string[];
  readonly images: Readonly<Record<string, RecordedImage>>;
}

export class ImageRecord {
  readonly #options: ImageRecordOptions;
  readonly #path: string;
  readonly #pulling = new Set<string>();
  readonly #images = new Map<string, RecordedImage>();
  #loading: Promise<void> | undefined;
  #saving: Promise<void> = Promise.resolve();
  #saved = '';

  constructor(options: ImageRecordOptions) {
    this.#options = options;
    this.#path = join(options.dataDir, 'images.json');
  }

  /** Returns the recorded images by id. */
  async images(): Promise<ReadonlyMap<string, RecordedImage>> {
    await this.#load();
    return this.#images;
  }

  /** Must be called before a missing image is pulled: the pull continues when this process ends. */
  async pulling(name: string): Promise<void> {
    await this.#load();
    this.#pulling.add(name);
    await this.#save();
  }

  /** Records a pulled image; the name now refers to it, and no longer to an earlier image. */
  async pulled(name: string, id: string): Promise<void> {
    await this.#load();
    this.#add(name, id);
    this.#pulling.delete(name);
    await this.#save();
  }

  /** Records that a pull failed. */
  async gaveUp(name: string): Promise<void> {
    await this.#load();
    this.#pulling.delete(name);
    await this.#save();
  }

  /**
   * Updates the record from the images that are present and those in use. Present images for which a pull had
   * begun, also in an earlier run, are added by their names.
   */
  async look(
    present: readonly { readonly id: string; readonly names: readonly string[] }[],
    used: ReadonlySet<string>,
  ): Promise<void> {
    await this.#load();
    const ids = new Set(present.map(({ id }) => id));
    for (const { id, names } of present)
      for (const name of names.filter((one) => this.#pulling.delete(one))) this.#add(name, id);
    for (const id of [...this.#images.keys()]) if (!ids.has(id)) this.#images.delete(id);
    const now = this.#options.clock.now();
    for (const [id, image] of this.#images) if (used.has(id)) this.#images.set(id, { ...image, usedAt: now });
    await this.#save();
  }

  #add(name: string, id: string): void {
    const now = this.#options.clock.now();
    const { names = [], since = now, usedAt = now } = this.#images.get(id) ?? {};
    this.#images.set(id, { names: [...new Set([...names, name])], since, usedAt });
  }

  #load(): Promise<void> {
    this.#loading ??= this.#read();
    return this.#loading;
  }

  async #read(): Promise<void> {
    try {
      const { pulling, images } = JSON.parse(await readFile(this.#path, 'utf8')) as Content;
      for (const name of pulling) this.#pulling.add(name);
      for (const [id, image] of Object.entries(images)) this.#images.set(id, image);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      this.#options.log.warn('cannot read which images were pulled for pods: they stay on this machine', {
        error: errorMessage(error),
      });
    }
  }

  /**
   * Saves the record. A failure is only logged: an image that could be removed then stays, which is better
   * than a failed pull.
   */
  #save(): Promise<void> {
    const text = this.#text();
    if (text === this.#saved) return this.#saving;
    this.#saved = text;
    this.#saving = this.#saving
      .then(() => mkdir(dirname(this.#path), { recursive: true, mode: 0o700 }))
      .then(() => replaceFile(this.#path, text, { mode: 0o600 }))
      .catch((error) => {
        this.#saved = '';
        this.#options.log.warn('cannot save which images were pulled for pods', {
          error: errorMessage(error),
        });
      });
    return this.#saving;
  }

  #text(): string {
    const content: Content = { pulling: [...this.#pulling], images: Object.fromEntries(this.#images) };
    return JSON.stringify(content);
  }
}
