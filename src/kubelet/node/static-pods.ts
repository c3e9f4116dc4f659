/**
 * Static pods: pods described by the files of a directory, one per file, in YAML or JSON (the kubelet's
 * --pod-manifest-path). They need no API server. The kernel reports changes, and the directory is also read
 * again every 20 seconds, because an event may be lost and the directory may be created later. While a file
 * is invalid, the pod that it described before stays: the file may be only half written.
 */
import { createHash } from 'node:crypto';
import { watch } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Clock } from '../../base/clock.ts';
import { keepDoing, Wake } from '../../base/keep-doing.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { PodWorkers } from '../pods/pod-workers.ts';
import type { RuntimeCache } from '../runtime/runtime-cache.ts';
import type { MirrorPods } from './mirror-pods.ts';
import { fullName, readStaticPod } from './plan/static-pod.ts';

export interface StaticPodsOptions {
  /** Directory of the files; undefined where there are no static pods. */
  readonly directory: string | undefined;
  readonly nodeName: string;
  readonly workers: PodWorkers;
  readonly cache: RuntimeCache;
  readonly mirrors: Pick<MirrorPods, 'want'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called each time that the directory has been read. */
  readonly onRead: () => void;
}

interface ReadFile {
  /** Identifies the file's content: changes with its inode, size or times. */
  readonly state: string;
  readonly pod: Pod | undefined;
}

const rereadMs = 20_000;
/** Wait after a change, because an editor writes more than once. */
const settleMs = 100;
const maxBytes = 1024 * 1024;

export class StaticPods {
  readonly #options: StaticPodsOptions;
  #files = new Map<string, ReadFile>();
  /** Static pods that were passed to the workers, by uid. */
  readonly #running = new Map<string, Pod>();
  #isRead = false;
  #isConnected = false;
  readonly #logged = new Map<string, string>();

  constructor(options: StaticPodsOptions) {
    this.#options = options;
  }

  /** Reads the directory for the first time. */
  async load(): Promise<void> {
    if (this.#options.directory !== undefined) await this.#read(this.#options.directory);
  }

  /** Watches and reads the directory until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { directory, clock } = this.#options;
    if (directory === undefined) return;
    const wake = new Wake();
    let close = () => {};
    let until = clock.monotonic();
    await keepDoing({ clock, signal, wake, settleMs }, async () => {
      if (clock.monotonic() >= until) {
        // Another directory may have this name by now.
        close();
        // The watch begins before the directory is read, so that no change is missed.
        close = watchDirectory(directory, () => wake.call());
        until = clock.monotonic() + rereadMs;
      }
      await this.#read(directory);
      return until - clock.monotonic();
    });
    close();
  }

  /**
   * Starts the static pods; must be called once the engine has listed its containers and before anything has
   * been started.
   */
  connected(): void {
    this.#isConnected = true;
    this.#apply();
  }

  /** Returns the names of the files; none for a missing directory, undefined for an unreadable one. */
  async #namesIn(directory: string): Promise<readonly string[] | undefined> {
    try {
      return (await readdir(directory)).filter((name) => !name.startsWith('.')).toSorted();
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      this.#logOnce(
        directory,
        isMissing
          ? `the directory of static pods ${directory} does not exist: create it, and put their manifests into it`
          : `the directory of static pods ${directory} cannot be read: ${errorMessage(error)}`,
      );
      return isMissing ? [] : undefined;
    }
  }

  async #read(directory: string): Promise<void> {
    const names = await this.#namesIn(directory);
    if (names === undefined) return;
    const files = new Map<string, ReadFile>();
    for (const name of names) {
      const path = join(directory, name);
      const file = await this.#readFile(path);
      if (file) files.set(path, file);
    }
    for (const path of this.#logged.keys())
      if (path !== directory && !files.has(path)) this.#logged.delete(path);
    if (names.length > 0) this.#logged.delete(directory);
    this.#files = files;
    this.#isRead = true;
    this.#apply();
    this.#options.onRead();
  }

  /** Returns undefined for a directory, and for a file that no longer exists. */
  async #readFile(path: string): Promise<ReadFile | undefined> {
    const before = this.#files.get(path);
    let state = '';
    try {
      const found = await stat(path);
      if (found.isDirectory()) return undefined;
      if (!found.isFile()) throw new Error('it is not a file');
      state = [found.ino, found.size, found.mtimeMs, found.ctimeMs].join();
      if (before?.state === state) return before;
      if (found.size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
      const { nodeName } = this.#options;
      const pod = readStaticPod(await readFile(path, 'utf8'), { nodeName, path, hash });
      this.#logged.delete(path);
      return { state, pod };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      this.#logOnce(path, `the static pod in ${path} is not run: ${errorMessage(error)}`);
      return { state, pod: before?.pod };
    }
  }

  /** Logs each problem of a file once. */
  #logOnce(path: string, problem: string): void {
    if (this.#logged.get(path) === problem) return;
    this.#logged.set(path, problem);
    this.#options.log.warn(problem);
  }

  #apply(): void {
    const { mirrors } = this.#options;
    if (!this.#isRead) return;
    const wanted = this.#wanted();
    mirrors.want([...wanted.values()]);
    if (!this.#isConnected) return;
    this.#stopUnwanted(wanted);
    for (const [name, pod] of wanted) this.#start(name, pod);
  }

  /** Stops the pods that no file describes any more. */
  #stopUnwanted(wanted: ReadonlyMap<string, Pod>): void {
    const { workers, cache } = this.#options;
    const uids = new Set([...wanted.values()].map(({ metadata }) => metadata.uid));
    for (const [uid] of this.#running) {
      if (uids.has(uid)) continue;
      this.#running.delete(uid);
      workers.orphan(uid);
    }
    // Stops pods of an earlier version of a file, which an earlier agent started.
    for (const { pod } of cache.sandboxes()) {
      const isReplaced = pod && wanted.has(`${pod.namespace}/${pod.name}`) && !uids.has(pod.uid);
      if (isReplaced && !workers.has(pod.uid)) workers.orphan(pod.uid);
    }
  }

  /** Starts a pod once other pods of its name have ended. */
  #start(name: string, pod: Pod): void {
    const { workers, cache } = this.#options;
    const { uid } = pod.metadata;
    if (this.#running.has(uid)) return;
    const ending = [...cache.podsNamed(name)].filter((other) => other !== uid);
    if (ending.length > 0) {
      void Promise.all(ending.map((other) => workers.gone(other))).then(() => this.#apply());
      return;
    }
    this.#running.set(uid, pod);
    workers.update(pod);
  }

  /**
   * Static pods by `NAMESPACE/NAME`. Of two files that describe a pod of the same name, the first is used.
   */
  #wanted(): ReadonlyMap<string, Pod> {
    const wanted = new Map<string, Pod>();
    for (const [path, { pod }] of this.#files) {
      if (!pod) continue;
      const name = fullName(pod);
      if (wanted.has(name))
        this.#logOnce(path, `the static pod in ${path} is not run: another file has a pod ${name}`);
      else wanted.set(name, pod);
    }
    return wanted;
  }
}

const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);

/**
 * Calls `onChange` at each change of the directory. Never calls it if the directory cannot be watched; the
 * caller then relies on its timer. Returns a function that ends the watch.
 */
function watchDirectory(directory: string, onChange: () => void): () => void {
  try {
    const watcher = watch(directory, onChange);
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => undefined;
  }
}
