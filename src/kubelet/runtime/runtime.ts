/**
 * The container engine as the node agent uses it. A pod is one sandbox (which holds the namespaces) and its
 * containers. The engine stores everything that the agent must remember across its own restart: in labels,
 * and in the sandbox's name, by which a sandbox made in advance is assigned to a pod (labels cannot change).
 * Every call that names a missing object resolves, because the wanted state already holds; the exception is
 * `start*`.
 */

import type { Duplex, Readable, Writable } from 'node:stream';
import type { ProgressLine } from '../../docker/images.ts';
import type { ContainerConfig, ContainerResources, PodReference, PreStop } from './container-config.ts';

export type RunState = 'created' | 'running' | 'exited';

export interface SandboxState {
  readonly kind: 'sandbox';
  readonly id: string;
  /** Undefined while the sandbox waits in the pool. */
  readonly pod: PodReference | undefined;
  readonly state: RunState;
  /** Process id of the process that holds the namespaces; 0 unless it runs. */
  readonly pid: number;
  /** Address that the sandbox was made for; undefined for a sandbox in the host's network. */
  readonly ip: string | undefined;
  /** Host name that containers get when they join the sandbox, before the agent names them. */
  readonly hostname: string;
  /** Number of the sandbox among its pod's sandboxes. */
  readonly attempt: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

export interface LinuxUser {
  readonly uid: number;
  readonly gid: number;
  readonly supplementalGroups: readonly number[];
}

export interface ContainerState {
  readonly kind: 'container';
  readonly id: string;
  readonly pod: PodReference;
  readonly name: string;
  readonly sandboxId: string;
  readonly state: RunState;
  readonly pid: number;
  /** The image's name in the pod's spec. */
  readonly image: string;
  readonly imageId: string;
  readonly specHash: string;
  /** Number of earlier starts of the container: its restart count. */
  readonly attempt: number;
  /** Consecutive exits before this start, for the back-off; 0 after a long run. */
  readonly crashes: number;
  readonly createdAt: number;
  readonly startedAt: number | undefined;
  readonly finishedAt: number | undefined;
  readonly exitCode: number;
  /**
   * True when the container has ended and the kernel killed one of its processes, the first or another, for
   * lack of memory.
   */
  readonly oomKilled: boolean;
  /** The reason why the engine could not run the container; '' when it could. */
  readonly error: string;
  /** Path of the container's termination message on this machine; '' when there is none. */
  readonly terminationMessageFile: string;
  /** Seconds between the stop signal and the kill, for a container whose pod is no longer known. */
  readonly gracePeriodSeconds: number;
  /** The limits that the engine enforces now; undefined when they are not known. */
  readonly resources?: ContainerResources;
  /** The allocation from the container's config; undefined for a container of an earlier version. */
  readonly allocation?: string;
  /** The user with which the container's first program was started; undefined when unknown. */
  readonly user?: LinuxUser;
  /**
   * The container's stop signal is sent once the containers of its pod with a lower turn have ended.
   * Undefined: the signal is sent at once, and no container waits for the container's end.
   */
  readonly stopTurn?: number | undefined;
  readonly preStop?: PreStop | undefined;
  /** Ids of the devices allocated to this container alone, by resource. */
  readonly devices?: Readonly<Record<string, readonly string[]>>;
}

export type RuntimeObject = SandboxState | ContainerState;

export interface RuntimeSummary {
  readonly id: string;
  readonly kind: 'sandbox' | 'container';
  readonly state: RunState;
}

export interface SandboxConfig {
  /** Address that the sandbox will get; undefined for a sandbox that stays in the host's network. */
  readonly ip: string | undefined;
  /** Set only when the sandbox is made for a particular pod. */
  readonly hostname: string | undefined;
}

export interface RuntimeImage {
  readonly id: string;
  readonly names: readonly string[];
  readonly sizeBytes: number;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  /** Name or id of the configured user; '' is root. */
  readonly user: string;
  /** Stop signal as the image's author wrote it; '' for none. */
  readonly stopSignal: string;
}

export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
}

export interface LogOptions {
  readonly follow: boolean;
  readonly timestamps: boolean;
  /** Undefined for all lines. */
  readonly tailLines: number | undefined;
  /** Milliseconds since the epoch. */
  readonly since: number | undefined;
}

/** Reports that an object's state may have changed and must be inspected again. */
export interface RuntimeEvent {
  readonly id: string;
  readonly kind: 'sandbox' | 'container';
}

export interface TerminalSize {
  /** Columns. */
  readonly width: number;
  /** Rows. */
  readonly height: number;
}

/** Input and outputs of a program. The caller ends the outputs, after the program has ended. */
export interface ProcessStreams {
  /** The end of this stream is the end of the program's input. */
  readonly stdin: Readable | undefined;
  /** Undefined: the program's output is dropped. With a terminal all output goes to stdout. */
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Size of the terminal, whenever it changes. */
  readonly sizes: AsyncIterable<TerminalSize>;
}

export interface ExecConfig {
  readonly command: readonly string[];
  readonly tty: boolean;
  /** True: an abort kills the program and the processes that it started; default: they continue. */
  readonly killOnAbort?: boolean;
}

export interface RuntimeVersion {
  readonly name: string;
  readonly version: string;
  readonly apiVersion: string;
  /** Directory of images and containers on this machine; undefined when they are not stored here. */
  readonly directory?: string | undefined;
  /**
   * OCI runtimes that can run a container, by the names used in a container's config; '' is the default one.
   */
  readonly handlers?: readonly RuntimeHandler[];
  /** True when containers can mount images. */
  readonly canMountImages: boolean;
}

export interface RuntimeHandler {
  readonly name: string;
  /** True when mounts below a read-only mount can be made read-only too. */
  readonly recursiveReadOnlyMounts: boolean;
}

export interface ContainerRuntime {
  version(): Promise<RuntimeVersion>;
  /**
   * Prepares the parts from which sandboxes are made; calls `readArchive` when the engine does not have the
   * pause image yet.
   */
  prepare(readArchive: () => Promise<Uint8Array>): Promise<void>;
  /** Returns everything that this agent made, running or not. */
  list(): Promise<readonly RuntimeSummary[]>;
  /** Returns undefined when the object is gone or has another owner. */
  inspect(id: string): Promise<RuntimeObject | undefined>;
  /**
   * Makes a sandbox that belongs to no pod yet, with namespaces to join. Leaves nothing behind when it fails.
   */
  runSandbox(config: SandboxConfig): Promise<SandboxState>;
  /**
   * Assigns the sandbox to a pod; the engine stores the assignment. A sandbox that has ended meanwhile can
   * also be assigned.
   */
  assignSandbox(id: string, pod: PodReference, attempt: number): Promise<void>;

  createContainer(config: ContainerConfig): Promise<string>;
  /**
   * Changes the limits of a running container, except its oomScoreAdj. Rejects when the kernel or the engine
   * rejects the change.
   */
  updateResources(id: string, resources: ContainerResources): Promise<void>;
  /**
   * Rejects with `SandboxEnded` or `NoSuchPart` when that is why the container cannot run, else with
   * `CannotRun`.
   */
  startContainer(id: string): Promise<void>;
  /** Sends the container's stop signal. */
  terminate(id: string): Promise<void>;
  kill(id: string): Promise<void>;
  /** Removes the object, and kills it first when it runs. */
  remove(id: string): Promise<void>;

  /** Returns undefined when this machine does not have the image. */
  findImage(name: string): Promise<RuntimeImage | undefined>;
  /** Rejects with `PullFailed`, also when no data arrives for a minute. */
  pullImage(
    name: string,
    signal: AbortSignal,
    credentials?: RegistryCredentials,
    onLine?: (line: ProgressLine) => void,
  ): Promise<void>;
  /**
   * Returns the ids of images that are used by a container or mounted, across all containers of the engine,
   * including stopped containers and containers of other owners.
   */
  usedImages(): Promise<ReadonlySet<string>>;
  /**
   * Removes a name of an image; the image is removed with its last name. Rejects with `Conflict` while a
   * container uses it.
   */
  removeImage(name: string): Promise<void>;
  /** Lists images without the fields that only `findImage` returns. */
  listImages(): Promise<readonly Pick<RuntimeImage, 'id' | 'names' | 'sizeBytes'>[]>;

  /**
   * Opens the container's log. Rejects with RuntimeError when it cannot be read. The resolved sequence yields
   * chunks of output. It ends when all has been read and, with `follow`, the container has ended; it throws
   * RuntimeError when the rest cannot be read. Its resources are released when it ends, when the reader
   * leaves, or when the signal aborts.
   */
  logs(id: string, options: LogOptions, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Runs a program in a running container; resolves with its exit status once it has ended and its output has
   * been written. An abort ends the streams, with `killOnAbort` also the program, and then the call rejects.
   */
  exec(id: string, config: ExecConfig, streams: ProcessStreams, signal: AbortSignal): Promise<number>;
  /** Connects the streams to a container's first process, from now on; resolves when it has ended. */
  attach(id: string, streams: ProcessStreams, signal: AbortSignal): Promise<void>;
  /**
   * Connects the stream to a TCP port of the pod, on its loopback address, until either side is done; rejects
   * with a message of one line when nothing listens there. Ends the stream.
   */
  portForward(sandboxId: string, port: number, stream: Duplex, signal: AbortSignal): Promise<void>;
  /**
   * Yields events until the signal aborts; ends or throws when the engine becomes unreachable. `onReady` is
   * called once no later event can be missed.
   */
  events(signal: AbortSignal, onReady: () => void): AsyncIterable<RuntimeEvent>;
}
