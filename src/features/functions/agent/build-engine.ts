/** Containers in which functions are built, on the Docker engine. A build leaves an image or nothing. */
import type { Duplex } from 'node:stream';
import { Readable, Transform } from 'node:stream';
import { unlessAborted } from '../../../base/abort.ts';
import { call, unlessGone } from '../../../docker/call.ts';
import { type Docker, dockerClient } from '../../../docker/client.ts';
import { drain, removeImage } from '../../../docker/images.ts';
import { RuntimeError } from '../../../docker/runtime-error.ts';
import { demultiplex, firstFileOfTar } from '../../../docker/streams.ts';
import { givenSignal, type ImageConfig, imageLabels } from './plan/image-contents.ts';

export interface BuildEngineOptions {
  /** Path of the engine's socket; default: DOCKER_HOST, else Docker's standard path. */
  readonly socketPath?: string;
  /** Part of the containers' names, so that containers of other agents are not changed. */
  readonly owner: string;
}

/** A program that runs once, in the machine's network, with files of the machine mounted read-only. */
export interface Installation {
  readonly image: string;
  /** A tar archive for its root directory. */
  readonly archive: Uint8Array;
  readonly command: readonly string[];
  readonly workingDir: string;
  /** Variables as `NAME=value`. */
  readonly env: readonly string[];
  /** Bind mounts as `SOURCE:TARGET:ro`. */
  readonly binds: readonly string[];
  readonly onOutput: (data: Uint8Array) => void;
}

export interface Commit {
  readonly baseImage: string;
  readonly archive: Uint8Array;
  readonly config: ImageConfig;
  /** Repository and tag of the image. */
  readonly image: string;
}

export interface BuiltImage {
  readonly id: string;
  readonly image: string;
  /** Name of the FunctionVersion for which it was built. */
  readonly version: string;
}

/**
 * Limits of an installation: bytes of memory, billionths of a CPU, processes, and bytes that it may install.
 */
const memory = 2 * 1024 ** 3;
const nanoCpus = 2e9;
const processes = 512;
const maxLibraries = 4 * 1024 ** 3;
/** Maximum bytes of a report or a lock. */
const maxFile = 16 * 1024 ** 2;

export class BuildEngine {
  readonly #docker: Docker;
  readonly #prefix: string;
  readonly owner: string;
  /** Containers of ended builds that the engine may still have. */
  readonly #discarded = new Set<Docker.Container>();

  constructor({ socketPath, owner }: BuildEngineOptions) {
    this.#docker = dockerClient(socketPath);
    this.owner = owner;
    // The owner is in the name and not in a label, because an image has the labels of the container from
    // which it was made.
    this.#prefix = `minik8s-build.${owner.replaceAll(/[^a-zA-Z0-9_.-]/g, '_')}.`;
  }

  /** Removes the containers that a killed agent left. Must not be called while something is being built. */
  async removeLeft(): Promise<void> {
    const filters = { name: [`^/${this.#prefix.replaceAll('.', '\\.')}`] };
    const found = await call('list containers', () => this.#docker.listContainers({ all: true, filters }));
    for (const { Id } of found) await this.#remove(this.#docker.getContainer(Id));
  }

  /** Removes containers of ended builds that could not be removed before. */
  async removeDiscarded(): Promise<void> {
    const remove = async (container: Docker.Container) => {
      await this.#remove(container);
      this.#discarded.delete(container);
    };
    await Promise.all([...this.#discarded].map(remove));
  }

  /**
   * Removes everything that was built here, except images that are in use. Must not be called while an agent
   * runs.
   */
  async removeAll(): Promise<void> {
    await this.removeLeft();
    for (const { image } of await this.images()) await unlessGone(removeImage(this.#docker, image));
    // While the engine still removes the last container of an image, the image only loses its name and stays.
    for (const { Id, RepoTags } of await this.#built())
      if (!RepoTags?.some((name) => !name.startsWith('<none>')))
        await unlessGone(removeImage(this.#docker, Id));
  }

  /** Resolves with true when a container has the file. */
  async hasFile(id: string, path: string): Promise<boolean> {
    const found = call(`look for ${path}`, () => this.#docker.getContainer(id).infoArchive({ path }));
    const answer: Readable | undefined = await unlessGone(found);
    // The answer has no body, but its connection is released only after it has been read.
    answer?.resume();
    return answer !== undefined;
  }

  /** Copies the archive, if one is given, into a running container, and signals its program to continue. */
  async give(id: string, archive?: Uint8Array): Promise<void> {
    const container = this.#docker.getContainer(id);
    if (archive) await this.#put(container, archive, '/');
    await call('signal an instance to continue', () => container.kill({ signal: givenSignal }));
  }

  /** Returns the images that were built here. */
  async images(): Promise<readonly BuiltImage[]> {
    return (await this.#built()).flatMap(({ Id: id, RepoTags, Labels }) => {
      const image = Labels?.[imageLabels.of] ?? '';
      return RepoTags?.includes(image) ? [{ id, image, version: Labels?.[imageLabels.version] ?? '' }] : [];
    });
  }

  #built(): Promise<Docker.ImageInfo[]> {
    const filters = { label: [`${imageLabels.by}=${this.owner}`] };
    return call('list images of functions', () => this.#docker.listImages({ filters }));
  }

  /**
   * Runs an installation to its end and passes its result to `use`; its container is removed in any case,
   * which also ends a program that still runs. When the signal aborts, rejects at once with its reason.
   */
  async install<T>(
    wanted: Installation,
    signal: AbortSignal,
    use: (result: { readonly exitCode: number; readonly installed: Installed }) => Promise<T>,
  ): Promise<T> {
    const { image, archive, command, workingDir, env, binds } = wanted;
    const container = await this.#create({
      Image: image,
      Entrypoint: [...command],
      Cmd: [],
      WorkingDir: workingDir,
      User: '0:0',
      Env: [...env],
      Healthcheck: { Test: ['NONE'] },
      HostConfig: {
        NetworkMode: 'host',
        Binds: [...binds],
        Memory: memory,
        MemorySwap: memory,
        NanoCpus: nanoCpus,
        PidsLimit: processes,
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
        LogConfig: { Type: 'none', Config: {} },
      },
    });
    try {
      await this.#put(container, archive, '/');
      const output = await call('read a build', () =>
        container.attach({ stream: true, hijack: true, stdin: false, stdout: true, stderr: true }),
      );
      const reading = read(output as Duplex, wanted.onOutput);
      await call('start a build', () => container.start(), 'CannotRun');
      const ending = call('await a build', () => container.wait()) as Promise<{ StatusCode: number }>;
      const { StatusCode: exitCode } = await unlessAborted(signal, ending);
      (output as Duplex).end();
      await unlessAborted(signal, reading);
      return await use({ exitCode, installed: this.#installed(container, workingDir) });
    } finally {
      await this.#discard(container);
    }
  }

  /** Makes the image, with the folder of an installation if there is one. No program of the image is run. */
  async commit(
    { baseImage, archive, config, image }: Commit,
    libraries?: { readonly from: Installed; readonly folder: string; readonly into: string },
  ): Promise<void> {
    const { Env, Entrypoint, Cmd, WorkingDir, Labels } = config;
    const container = await this.#create({
      Image: baseImage,
      Entrypoint: [...Entrypoint],
      Cmd: [...Cmd],
      Env: [...Env],
      WorkingDir,
      Labels: { ...Labels, [imageLabels.by]: this.owner },
      HostConfig: { NetworkMode: 'none' },
    });
    try {
      await this.#put(container, archive, '/');
      if (libraries) {
        const stream = await libraries.from.folder(libraries.folder);
        if (stream) await this.#put(container, stream, libraries.into);
      }
      const at = image.lastIndexOf(':');
      const name = { repo: image.slice(0, at), tag: image.slice(at + 1) };
      await call(`make the image ${image}`, () => container.commit({ ...name, author: 'minik8s' }));
    } finally {
      await this.#discard(container);
    }
  }

  /** Makes an image from one archive, with variables and without a program of its own. */
  async importImage(archive: Readable, image: string, env: Readonly<Record<string, string>>): Promise<void> {
    const labels = { [imageLabels.by]: this.owner, [imageLabels.of]: image };
    // Formatted as in a Dockerfile.
    const pairs = (values: Readonly<Record<string, string>>) =>
      Object.entries(values)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(' ');
    const changes = [`ENV ${pairs(env)}`, `LABEL ${pairs(labels)}`];
    const at = image.lastIndexOf(':');
    const options = { repo: image.slice(0, at), tag: image.slice(at + 1), changes: changes.join('\n') };
    const doing = `make the image ${image}`;
    const answer = await call(doing, () => this.#docker.importImage(archive, options));
    await drain(answer as AsyncIterable<Uint8Array>, doing);
  }

  #installed(container: Docker.Container, workingDir: string): Installed {
    const archiveOf = async (path: string) =>
      (await unlessGone(
        call(`read ${path} of a build`, () => container.getArchive({ path: `${workingDir}/${path}` })),
      )) as Readable | undefined;
    return {
      async folder(path) {
        const archive = await archiveOf(path);
        return archive?.pipe(bounded(maxLibraries, `the libraries have more than ${maxLibraries} bytes`));
      },
      async file(path) {
        const archive = await archiveOf(path);
        if (!archive) return undefined;
        const parts: Uint8Array[] = [];
        for await (const part of archive.pipe(bounded(maxFile, `${path} has more than ${maxFile} bytes`)))
          parts.push(part as Uint8Array);
        return firstFileOfTar(Buffer.concat(parts)).toString('utf8');
      },
    };
  }

  async #create(options: Docker.ContainerCreateOptions): Promise<Docker.Container> {
    const name = `${this.#prefix}${crypto.randomUUID()}`;
    try {
      return await call('create a build', () => this.#docker.createContainer({ ...options, name }));
    } catch (error) {
      // The engine may have created the container, although its answer was lost.
      await this.#discard(this.#docker.getContainer(name));
      throw error;
    }
  }

  async #put(container: Docker.Container, archive: Uint8Array | Readable, path: string): Promise<void> {
    const body = archive instanceof Readable ? archive : Readable.from([Buffer.from(archive)]);
    await call('put files into a build', () => container.putArchive(body, { path }));
  }

  /** Removes the container now or in `removeDiscarded`; never rejects. */
  async #discard(container: Docker.Container): Promise<void> {
    this.#discarded.add(container);
    await this.removeDiscarded().catch(() => undefined);
  }

  async #remove(container: Docker.Container): Promise<void> {
    await unlessGone(call('remove a build', () => container.remove({ force: true, v: true })));
  }
}

/** Files that an installation left in its working directory; must be read before its container is removed. */
export interface Installed {
  /** An archive of the folder; undefined when there is none. */
  readonly folder: (path: string) => Promise<Readable | undefined>;
  /** The text of a file; undefined when there is none. */
  readonly file: (path: string) => Promise<string | undefined>;
}

async function read(output: Duplex, onOutput: (data: Uint8Array) => void): Promise<void> {
  try {
    for await (const data of demultiplex(output as AsyncIterable<Uint8Array>)) onOutput(data);
  } catch {
    // The engine closed the connection; the program's exit status is its result.
  }
}

function bounded(most: number, message: string): Transform {
  let total = 0;
  return new Transform({
    transform(part: Uint8Array, _encoding, done) {
      total += part.length;
      if (total > most) done(new RuntimeError('Failed', message));
      else done(null, part);
    },
  });
}
