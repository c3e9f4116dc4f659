/** Held images in the Docker engine of this machine. */
import type { Readable } from 'node:stream';
import { call, unlessGone } from '../../../docker/call.ts';
import { type Docker, dockerClient } from '../../../docker/client.ts';
import { drain, inspectImage, removeImage } from '../../../docker/images.ts';

export class ImageEngine {
  readonly #docker: Docker;

  /** `socketPath`: default DOCKER_HOST, else Docker's standard path. */
  constructor(socketPath?: string) {
    this.#docker = dockerClient(socketPath);
  }

  /** Loads an archive. The engine compares the layers with the image's configuration. */
  async load(archive: Readable, what: string): Promise<void> {
    const doing = `load ${what}`;
    const answer = await call(doing, () => this.#docker.loadImage(archive));
    await drain(answer as AsyncIterable<Uint8Array>, doing);
  }

  /** Returns an archive of an image, as `docker save` writes it; undefined if the engine does not have it. */
  async save(name: string): Promise<Readable | undefined> {
    // The engine answers with an empty archive for a missing image, or breaks off.
    if (!(await inspectImage(this.#docker, name))) return undefined;
    const found = call(`save ${name}`, () => this.#docker.getImage(name).get());
    return (await unlessGone(found)) as Readable | undefined;
  }

  remove(name: string): Promise<void> {
    return removeImage(this.#docker, name);
  }
}
