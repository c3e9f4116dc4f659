/**
 * A container engine that exists only as data: for running the node agent where there is no Docker, and for
 * tests. It passes the same conformance suite as Docker. A container runs until `exit` is called for it or it
 * is stopped.
 */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { RuntimeError } from '../../docker/runtime-error.ts';
import type { ContainerConfig, ContainerResources, PodReference } from './container-config.ts';
import type {
  ContainerRuntime,
  ContainerState,
  ExecConfig,
  LinuxUser,
  LogOptions,
  ProcessStreams,
  RuntimeEvent,
  RuntimeImage,
  RuntimeObject,
  RuntimeSummary,
  RuntimeVersion,
  SandboxConfig,
  SandboxState,
} from './runtime.ts';
import { copyInput, linesOf, type Program, writeTo } from './simulated-streams.ts';

export interface SimulatedOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Images that can be pulled, by name; `present` when this machine has the image already. */
  readonly images: ReadonlyMap<string, { readonly present: boolean }>;
  /** Default true. */
  readonly canMountImages?: boolean;
  /** Reaction of a container to a request to stop; default: it exits with 143 at once. */
  readonly onTerminate?: (container: ContainerState) => 'exit' | 'ignore' | 'refuse';
  /** Returns the error of a change of resources; default: none. */
  readonly onUpdate?: (container: ContainerState, resources: ContainerResources) => string | undefined;
  /** The program that runs for an exec, up to its exit status; default: copies its input. */
  readonly onExec?: Program;
  /** Returns the program that listens on a port of a pod; default: none. */
  readonly onConnect?: (port: number) => ((connection: Duplex) => Promise<void>) | undefined;
}

/** The only OCI runtime, under the name of Docker's. */
const simulatedHandler = 'runc';

interface LogLine {
  readonly at: number;
  readonly text: string;
}

/** Returns the user of a container; simulated images have no user. */
function userOf({ user = '0', groups = [] }: ContainerConfig): LinuxUser {
  const [uid = 0, gid = 0] = user.split(':').map(Number);
  return { uid, gid, supplementalGroups: [...new Set([gid, ...groups])] };
}

type Listener = (event: RuntimeEvent) => void;

export class SimulatedRuntime implements ContainerRuntime {
  readonly #options: SimulatedOptions;
  readonly #objects = new Map<string, RuntimeObject>();
  readonly #present = new Set<string>();
  readonly #logs = new Map<string, LogLine[]>();
  /** Ids of the images that containers mount. */
  readonly #mounted = new Map<string, readonly string[]>();
  /** Containers that take input, by id. */
  readonly #inputs = new Map<string, { readonly once: boolean }>();
  readonly #listeners = new Set<Listener>();
  #pid = 1000;

  constructor(options: SimulatedOptions) {
    this.#options = options;
    for (const [name, { present }] of options.images) if (present) this.#present.add(name);
  }

  async version(): Promise<RuntimeVersion> {
    const { canMountImages = true } = this.#options;
    const handlers = ['', simulatedHandler].map((name) => ({ name, recursiveReadOnlyMounts: true }));
    return { name: 'simulated', version: '1.0.0', apiVersion: '1.41', canMountImages, handlers };
  }

  async prepare(): Promise<void> {}

  async list(): Promise<readonly RuntimeSummary[]> {
    return [...this.#objects.values()].map(({ id, kind, state }) => ({ id, kind, state }));
  }

  async inspect(id: string): Promise<RuntimeObject | undefined> {
    return this.#objects.get(id);
  }

  async runSandbox({ ip, hostname }: SandboxConfig): Promise<SandboxState> {
    const sandbox: SandboxState = {
      kind: 'sandbox',
      id: this.#options.random.uuid(),
      pod: undefined,
      state: 'running',
      pid: this.#pid++,
      ip,
      hostname: hostname ?? 'simulated-host',
      attempt: 0,
      createdAt: this.#options.clock.now(),
    };
    this.#put(sandbox);
    return sandbox;
  }

  async assignSandbox(id: string, pod: PodReference, attempt: number): Promise<void> {
    const sandbox = this.#objects.get(id);
    if (sandbox?.kind !== 'sandbox') throw new RuntimeError('NotFound', `no sandbox ${id}`);
    this.#objects.set(id, { ...sandbox, pod, attempt });
  }

  async createContainer(config: ContainerConfig): Promise<string> {
    const sandbox = this.#objects.get(config.sandboxId);
    if (sandbox?.kind !== 'sandbox') throw new RuntimeError('NotFound', `no sandbox ${config.sandboxId}`);
    if (config.runtime !== undefined && config.runtime !== simulatedHandler)
      throw new RuntimeError('Failed', `unknown runtime ${config.runtime}`);
    const mounted = (config.imageMounts ?? []).map(({ imageId }) => imageId);
    if (mounted.length > 0 && this.#options.canMountImages === false)
      throw new RuntimeError('Failed', 'the simulated engine does not support mounts of images');
    const missing = mounted.find((id) => !this.#present.has(id.replace(/^sha256:/, '')));
    if (missing !== undefined) throw new RuntimeError('NotFound', `no image ${missing}`);
    if (this.#objects.values().some((object) => object.kind === 'container' && isSame(object, config)))
      throw new RuntimeError('Conflict', `container ${config.name} exists with attempt ${config.attempt}`);
    const { pod, name, sandboxId, image, imageId, specHash, attempt, crashes } = config;
    const container: ContainerState = {
      kind: 'container',
      id: this.#options.random.uuid(),
      pod,
      name,
      sandboxId,
      state: 'created',
      pid: 0,
      image,
      imageId,
      specHash,
      attempt,
      crashes,
      createdAt: this.#options.clock.now(),
      startedAt: undefined,
      finishedAt: undefined,
      exitCode: 0,
      oomKilled: false,
      error: '',
      terminationMessageFile: config.terminationMessageFile,
      gracePeriodSeconds: config.gracePeriodSeconds,
      resources: config.resources,
      ...(config.allocation !== undefined && { allocation: config.allocation }),
      stopTurn: config.stopTurn,
      preStop: config.preStop,
      user: userOf(config),
    };
    this.#objects.set(container.id, container);
    this.#logs.set(container.id, []);
    this.#mounted.set(container.id, mounted);
    if (config.stdin) this.#inputs.set(container.id, { once: config.stdinOnce });
    return container.id;
  }

  async startContainer(id: string): Promise<void> {
    const container = this.#container(id);
    if (!container) throw new RuntimeError('CannotRun', `no container ${id}`);
    if (this.#objects.get(container.sandboxId)?.state !== 'running') {
      throw new RuntimeError('SandboxEnded', `cannot join the namespaces of ${container.sandboxId}`);
    }
    this.#put({ ...container, state: 'running', pid: this.#pid++, startedAt: this.#options.clock.now() });
  }

  async updateResources(id: string, resources: ContainerResources): Promise<void> {
    const container = this.#container(id);
    if (container?.state !== 'running') throw new RuntimeError('Failed', `container ${id} does not run`);
    const refusal = this.#options.onUpdate?.(container, resources);
    if (refusal !== undefined) throw new RuntimeError('Failed', refusal);
    this.#put({ ...container, resources });
  }

  async terminate(id: string): Promise<void> {
    const container = this.#container(id);
    if (container?.state !== 'running') return;
    const answer = this.#options.onTerminate?.(container) ?? 'exit';
    if (answer === 'refuse') throw new RuntimeError('Failed', `cannot stop ${id}`);
    if (answer === 'exit') this.exit(id, 143);
  }

  async kill(id: string): Promise<void> {
    this.exit(id, 137);
  }

  async remove(id: string): Promise<void> {
    const object = this.#objects.get(id);
    if (!object) return;
    this.exit(id, 137);
    this.#objects.delete(id);
    this.#logs.delete(id);
    this.#mounted.delete(id);
    this.#inputs.delete(id);
    this.#tell(object);
  }

  async findImage(name: string): Promise<RuntimeImage | undefined> {
    if (!this.#present.has(name)) return undefined;
    return {
      id: `sha256:${name}`,
      names: [name],
      sizeBytes: 1,
      entrypoint: [],
      command: ['run'],
      user: '',
      stopSignal: '',
    };
  }

  async pullImage(name: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#options.images.has(name)) throw new RuntimeError('PullFailed', `${name} does not exist`);
    this.#present.add(name);
  }

  async usedImages(): Promise<ReadonlySet<string>> {
    const containers = [...this.#objects.values()].filter((object) => object.kind === 'container');
    return new Set([...containers.map(({ imageId }) => imageId), ...[...this.#mounted.values()].flat()]);
  }

  async removeImage(name: string): Promise<void> {
    if ((await this.usedImages()).has(`sha256:${name}`))
      throw new RuntimeError('Conflict', `a container uses ${name}`);
    this.#present.delete(name);
  }

  async listImages(): Promise<readonly Pick<RuntimeImage, 'id' | 'names' | 'sizeBytes'>[]> {
    return [...this.#present].map((name) => ({ id: `sha256:${name}`, names: [name], sizeBytes: 1 }));
  }

  async logs(id: string, options: LogOptions, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const lines = this.#logs.get(id);
    if (!lines) throw new RuntimeError('NotFound', `no container ${id}`);
    return this.#read(id, lines, options, signal);
  }

  async *#read(
    id: string,
    lines: readonly LogLine[],
    options: LogOptions,
    signal: AbortSignal,
  ): AsyncIterable<Uint8Array> {
    const wanted = lines.filter(({ at }) => options.since === undefined || at >= options.since);
    let next = options.tailLines === undefined ? 0 : Math.max(0, wanted.length - options.tailLines);
    for (;;) {
      for (const { at, text } of wanted.slice(next))
        yield Buffer.from(`${options.timestamps ? `${new Date(at).toISOString()} ` : ''}${text}\n`);
      next = wanted.length;
      if (!options.follow || this.#objects.get(id)?.state !== 'running' || signal.aborted) return;
      const before = lines.length;
      await this.#next(signal);
      wanted.push(...lines.slice(before));
    }
  }

  async exec(
    id: string,
    { command }: ExecConfig,
    streams: ProcessStreams,
    signal: AbortSignal,
  ): Promise<number> {
    if (this.#container(id)?.state !== 'running') throw new RuntimeError('Conflict', `${id} is not running`);
    return (this.#options.onExec ?? copyInput)(command, streams, signal);
  }

  /** Attaches to a container: one that takes input prints each line that it gets. */
  async attach(id: string, streams: ProcessStreams, signal: AbortSignal): Promise<void> {
    if (this.#container(id)?.state !== 'running') throw new RuntimeError('Conflict', `${id} is not running`);
    const leave = new AbortController();
    const both = AbortSignal.any([signal, leave.signal]);
    const typing = this.#type(id, streams, both);
    try {
      const options = { follow: true, timestamps: false, tailLines: 0, since: undefined };
      for await (const line of await this.logs(id, options, both)) await writeTo(streams.stdout, line);
      signal.throwIfAborted();
    } finally {
      leave.abort();
      await typing;
    }
  }

  async #type(id: string, { stdin }: ProcessStreams, signal: AbortSignal): Promise<void> {
    const input = this.#inputs.get(id);
    if (!stdin || !input) return;
    for await (const line of linesOf(stdin, signal)) this.print(id, line);
    if (input.once) this.exit(id, 0);
  }

  async portForward(_sandboxId: string, port: number, stream: Duplex): Promise<void> {
    const serve = this.#options.onConnect?.(port);
    if (!serve) throw new RuntimeError('Failed', `connect to port ${port}: Connection refused`);
    await serve(stream);
    stream.end();
  }

  async *events(signal: AbortSignal, onReady: () => void): AsyncIterable<RuntimeEvent> {
    const waiting: RuntimeEvent[] = [];
    const listener: Listener = (event) => waiting.push(event);
    this.#listeners.add(listener);
    onReady();
    try {
      while (!signal.aborted) {
        for (let event = waiting.shift(); event; event = waiting.shift()) yield event;
        if (waiting.length === 0) await this.#next(signal);
      }
    } finally {
      this.#listeners.delete(listener);
    }
  }

  /** Ends a running container or sandbox, as if it had ended by itself. */
  exit(id: string, exitCode: number): void {
    const object = this.#objects.get(id);
    if (object?.state !== 'running') return;
    if (object.kind === 'sandbox') this.#put({ ...object, state: 'exited', pid: 0 });
    else this.#put({ ...object, state: 'exited', pid: 0, exitCode, finishedAt: this.#options.clock.now() });
  }

  /** Writes a line as a running container would. */
  print(id: string, text: string): void {
    this.#logs.get(id)?.push({ at: this.#options.clock.now(), text });
    const object = this.#objects.get(id);
    if (object) this.#tell(object);
  }

  #container(id: string): ContainerState | undefined {
    const object = this.#objects.get(id);
    return object?.kind === 'container' ? object : undefined;
  }

  #put(object: RuntimeObject): void {
    this.#objects.set(object.id, object);
    this.#tell(object);
  }

  #tell({ id, kind }: RuntimeObject): void {
    for (const listener of [...this.#listeners]) listener({ id, kind });
  }

  /** Resolves at the next change of any object, or when the signal aborts. */
  #next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const done = () => {
        this.#listeners.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#listeners.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }
}

const isSame = ({ pod, name, attempt }: ContainerState, config: ContainerConfig) =>
  pod.uid === config.pod.uid && name === config.name && attempt === config.attempt;
