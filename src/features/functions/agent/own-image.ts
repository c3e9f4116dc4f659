/** Makes the image of the single-file program, with the libraries of this machine to which it is linked. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { unlessAborted } from '../../../base/abort.ts';
import { errorMessage } from '../../../base/log.ts';
import { version } from '../../../base/version.ts';
import type { EventRecorder } from '../../../controller-runtime/events.ts';
import { archiveEnd, memberHeader, padding } from '../../../formats/tar-archive.ts';
import type { ImageProvider } from '../../../kubelet/images/image-provider.ts';
import { ImageError } from '../../../kubelet/images/image-puller.ts';
import type { ContainerRuntime, RuntimeImage } from '../../../kubelet/runtime/runtime.ts';
import type { Exec } from '../../../os/exec.ts';
import { isOwnImage, ownImage, ownImageOf, ownProgram } from '../api/own-image.ts';
import type { BuildEngine } from './build-engine.ts';
import { foldersAbove, linkedLibraries, type OwnFile, ownFiles } from './plan/own-image-files.ts';

export interface OwnImageOptions {
  /** Path of the single-file program; undefined where this process does not run from it. */
  readonly program: string | undefined;
  /** Undefined where the runtime cannot build. */
  readonly engine: Pick<BuildEngine, 'owner' | 'importImage'> | undefined;
  readonly runtime: Pick<ContainerRuntime, 'findImage'>;
  readonly events: EventRecorder;
  readonly exec: Exec;
}

export class OwnImage implements ImageProvider {
  readonly #options: OwnImageOptions;
  #making: Promise<RuntimeImage> | undefined;

  constructor(options: OwnImageOptions) {
    this.#options = options;
  }

  takes(image: string): boolean {
    return isOwnImage(image);
  }

  /**
   * Resolves with the image. All callers share one build; an abort only ends the caller's wait. Throws
   * ImageError.
   */
  async ensure(pod: Pod, image: string, signal: AbortSignal): Promise<RuntimeImage> {
    if (image !== ownImage)
      throw failed(`there is no image ${JSON.stringify(image)}: the image of minik8s is named ${ownImage}`);
    this.#making ??= this.#make(pod).finally(() => {
      this.#making = undefined;
    });
    return unlessAborted(signal, this.#making);
  }

  /** Resolves when no image is being created any more. */
  async close(): Promise<void> {
    await this.#making?.catch(() => undefined);
  }

  async #make(pod: Pod): Promise<RuntimeImage> {
    const { program, engine, runtime, events } = this.#options;
    if (!engine) throw failed('this node makes no images');
    if (program === undefined)
      throw failed('only the single-file program can make an image of itself: build and run it');
    try {
      const { size, mtimeMs } = await stat(program);
      const hash = createHash('sha256').update([engine.owner, version(), size, mtimeMs].join('\n'));
      const name = ownImageOf(hash.digest('hex').slice(0, 16));
      const present = await runtime.findImage(name);
      if (present) return present;
      const files = await this.#files(program);
      const libraries = [...new Set(files.flatMap(({ library }) => library ?? []))];
      await engine.importImage(Readable.from(archive(files)), name, {
        LD_LIBRARY_PATH: libraries.join(':'),
      });
      const made = await runtime.findImage(name);
      if (!made) throw new Error(`image ${name} was made but is not present`);
      events.event(pod, 'Normal', 'Built', `Made image ${JSON.stringify(ownImage)} of ${program}`);
      return made;
    } catch (error) {
      const message = `cannot make an image of ${program}: ${errorMessage(error)}`;
      events.event(pod, 'Warning', 'Failed', message);
      throw failed(message, error);
    }
  }

  /**
   * Returns the program and its libraries. The loader lists the libraries that it would load, and runs
   * nothing.
   */
  async #files(program: string): Promise<readonly OwnFile[]> {
    const { stdout } = await this.#options.exec(program, [], { env: { LD_TRACE_LOADED_OBJECTS: '1' } });
    const files = ownFiles(program, ownProgram, linkedLibraries(stdout));
    return Promise.all(files.map(async (file) => ({ ...file, size: (await stat(file.source)).size })));
  }
}

const failed = (message: string, cause?: unknown) => new ImageError('OwnImageFailed', message, { cause });

const own = { uid: 0, gid: 0, modified: 0 };

async function* archive(files: readonly OwnFile[]): AsyncGenerator<Uint8Array> {
  for (const name of foldersAbove(files.map(({ path }) => path)))
    yield memberHeader({ ...own, name, type: 'directory', mode: 0o755, size: 0 });
  for (const { source, path, size = 0 } of files) {
    yield memberHeader({ ...own, name: path, type: 'file', mode: 0o755, size });
    // A library is small and may be replaced while it is read, so it is read in one piece. The program is
    // read piece by piece: nothing can write to the file of a running process.
    if (size < 16 * 1024 ** 2) yield exactly(await readFile(source), size, source);
    else yield* createReadStream(source, { end: size - 1 }) as AsyncIterable<Uint8Array>;
    yield padding(size);
  }
  for (const [path, text] of Object.entries(texts)) {
    const content = Buffer.from(text);
    yield memberHeader({ ...own, name: path, type: 'file', mode: 0o644, size: content.length });
    yield content;
    yield padding(content.length);
  }
  yield archiveEnd;
}

/** Files for host name resolution, and the user that programs run as. */
const texts: Readonly<Record<string, string>> = {
  'etc/nsswitch.conf': 'hosts: files dns\n',
  'etc/passwd': 'root:x:0:0::/:/bin/false\nnobody:x:65534:65534::/:/bin/false\n',
};

function exactly(content: Uint8Array, size: number, source: string): Uint8Array {
  if (content.length !== size) throw new Error(`${source} changed while it was being read`);
  return content;
}
