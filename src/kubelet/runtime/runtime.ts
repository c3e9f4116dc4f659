/**
 * What the node agent needs of a container engine. A pod is one sandbox (holds the namespaces) and its
 * containers. Everything the agent must remember across its own restart is kept by the engine: in labels, and
 * in the sandbox's name, which is how a sandbox made ahead of time is given to a pod (labels cannot change).
 * Every call that names an object that is gone resolves (the state wanted is the state that is), except
 * `start*`.
 */

import type { Duplex, Readable, Writable } from 'node:stream';
import type { ContainerPort, LifecycleHandler } from '../../api/core/v1/types.gen.ts';
import type { ProgressLine } from '../../docker/images.ts';

export interface PodReference {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}

export type RunState = 'created' | 'running' | 'exited';

export interface SandboxState {
  readonly kind: 'sandbox';
  readonly id: string;
  /** Absent while the sandbox waits in the pool. */
  readonly pod: PodReference | undefined;
  readonly state: RunState;
  /** Of the process that holds the namespaces; 0 unless running. */
  readonly pid: number;
  /** The address it was made for; absent when it is in the host's network. */
  readonly ip: string | undefined;
  /** The host name containers get that join it, before the agent names them. */
  readonly hostname: string;
  /** Counts the sandboxes of one pod. */
  readonly attempt: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** What is done before a container is asked to stop. */
export interface PreStop {
  readonly handler: LifecycleHandler;
  /** The container's that the handler may name. */
  readonly ports: readonly ContainerPort[];
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
  /** The image as the pod named it. */
  readonly image: string;
  readonly imageId: string;
  readonly specHash: string;
  /** How often the container was started before: its restart count. */
  readonly attempt: number;
  /** Exits in a row before this start, for the back-off; 0 after a long run. */
  readonly crashes: number;
  readonly createdAt: number;
  readonly startedAt: number | undefined;
  readonly finishedAt: number | undefined;
  readonly exitCode: number;
  readonly oomKilled: boolean;
  /** Why the engine could not run it; '' when it could. */
  readonly error: string;
  /** Where on this machine the container's termination message is; '' when there is none. */
  readonly terminationMessageFile: string;
  /** Seconds between the request to stop and the kill, for a container whose pod is no longer known. */
  readonly gracePeriodSeconds: number;
  /** What the engine holds it to now; undefined when that is not known. */
  readonly resources?: ContainerResources;
  /** As its config said; undefined for one of an earlier version. */
  readonly allocation?: string;
  /** As which its first program was started; undefined when that is not known. */
  readonly user?: LinuxUser;
  /**
   * It is asked to stop once those of its pod with a lower turn have ended; undefined: at once, and
   * unawaited.
   */
  readonly stopTurn?: number | undefined;
  readonly preStop?: PreStop | undefined;
  /** The devices that are its alone, by resource. */
  readonly devices?: Readonly<Record<string, readonly string[]>>;
}

export type RuntimeObject = SandboxState | ContainerState;

export interface RuntimeSummary {
  readonly id: string;
  readonly kind: 'sandbox' | 'container';
  readonly state: RunState;
}

export interface SandboxConfig {
  /** The address it will be given; absent: it stays in the host's network. */
  readonly ip: string | undefined;
  /** Known only when it is made for a certain pod. */
  readonly hostname: string | undefined;
}

export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
  /**
   * Of a read-only one, whether that is so of what is mounted below it too; absent for no. `Enabled` where
   * the engine cannot: the container is not created.
   */
  readonly recursiveReadOnly?: 'Enabled' | 'IfPossible';
  /** What is mounted later is seen from one side by the other; absent for by neither. */
  readonly propagation?: 'HostToContainer' | 'Bidirectional';
}

/** An image of this machine that a container has among its files, for reading alone. */
export interface ImageMount {
  readonly imageId: string;
  readonly target: string;
  /** Relative, without `..`; '' for all of it. */
  readonly subPath: string;
}

/** A device of the machine that a container has. */
export interface Device {
  readonly source: string;
  readonly target: string;
  /** Some of `r`, `w` and `m` (make its file). */
  readonly permissions: string;
}

/** Devices that the engine itself knows how to give. */
export interface EngineDevices {
  /** Names of the Container Device Interface. */
  readonly cdi: readonly string[];
  /** UUIDs of NVIDIA's cards. */
  readonly nvidia: readonly string[];
}

export interface ContainerResources {
  /** Of one CPU, ×10⁻⁹; 0 for no limit. */
  readonly nanoCpus: number;
  readonly cpuShares: number;
  /** Bytes; 0 for no limit. */
  readonly memory: number;
  readonly oomScoreAdj: number;
}

/** The profile by which the engine confines containers by default, if any. */
export type ConfinementProfile = 'RuntimeDefault' | 'Unconfined';

/** One of the machine's own: for seccomp its rules as JSON, for AppArmor its name in the kernel. */
export interface OwnProfile {
  readonly profile: string;
}

export interface ContainerConfig {
  readonly pod: PodReference;
  readonly name: string;
  readonly sandboxId: string;
  /**
   * The engine's name of what runs it; undefined: the engine's default. One that it does not have: not
   * created.
   */
  readonly runtime: string | undefined;
  /** As the pod names it. */
  readonly image: string;
  readonly imageId: string;
  readonly specHash: string;
  readonly attempt: number;
  readonly crashes: number;
  /** The whole command line, the image's defaults resolved. */
  readonly argv: readonly string[];
  readonly workingDir: string | undefined;
  /** `NAME=value`. */
  readonly env: readonly string[];
  readonly mounts: readonly Mount[];
  /** Absent for none. An engine that cannot: the container is not created. */
  readonly imageMounts?: readonly ImageMount[];
  /** Absent for none. */
  readonly devices?: readonly Device[];
  /** Absent for none. An engine that cannot: the container is not created. */
  readonly engineDevices?: EngineDevices;
  /** The devices that are its alone, by resource. */
  readonly deviceIds?: Readonly<Record<string, readonly string[]>>;
  /** For what runs it. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly resources: ContainerResources;
  /** What the pod was given for it, as its owner writes it. */
  readonly allocation?: string;
  /** `uid`, `uid:gid`, or undefined for the image's own. */
  readonly user: string | undefined;
  readonly privileged: boolean;
  readonly readOnlyRootFilesystem: boolean;
  readonly noNewPrivileges: boolean;
  readonly addCapabilities: readonly string[];
  readonly dropCapabilities: readonly string[];
  /** Of its processes, beside those of the user. */
  readonly groups: readonly number[];
  /** Of the sandbox's namespaces, by names with dots. */
  readonly sysctls: Readonly<Record<string, string>>;
  /** Undefined: the engine's default. What the engine does not have: the container is not created. */
  readonly seccomp: ConfinementProfile | OwnProfile | undefined;
  readonly appArmor: ConfinementProfile | OwnProfile | undefined;
  /** The labels of its processes by their parts (user, role, type, level), for a machine that has SELinux. */
  readonly seLinux: Readonly<Record<string, string>>;
  /**
   * Which processes it sees: its own, all of the pod, all of the machine, or those of another container, by
   * its id.
   */
  readonly processes: 'own' | 'pod' | 'host' | { readonly container: string };
  /** It shares memory and semaphores with the machine, not only with its pod. */
  readonly hostIPC: boolean;
  readonly stdin: boolean;
  /** The program's input ends when the first who attached to it leaves. */
  readonly stdinOnce: boolean;
  readonly tty: boolean;
  readonly terminationMessageFile: string;
  /** Where the container sees that file. */
  readonly terminationMessagePath: string;
  readonly gracePeriodSeconds: number;
  readonly stopTurn?: number | undefined;
  readonly preStop?: PreStop | undefined;
  /** The signal that asks it to stop; undefined: what the image says. */
  readonly stopSignal?: string | undefined;
  /** Set when the sandbox does not already carry the name: the container waits until it is named. */
  readonly hostname: string | undefined;
}

export interface RuntimeImage {
  readonly id: string;
  readonly names: readonly string[];
  readonly sizeBytes: number;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  /** Of the configured user; '' is root. */
  readonly user: string;
  /** As its author wrote it; '' for none. */
  readonly stopSignal: string;
}

export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
}

export interface LogOptions {
  readonly follow: boolean;
  readonly timestamps: boolean;
  /** Undefined: all. */
  readonly tailLines: number | undefined;
  /** Milliseconds since the epoch. */
  readonly since: number | undefined;
}

/** An object's state may have changed: look at it again. */
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

/** What a program reads and writes. The caller ends the outputs, after the program has. */
export interface ProcessStreams {
  /** Its end is the end of the program's input. */
  readonly stdin: Readable | undefined;
  /** Undefined: what the program writes there is dropped. With a terminal everything goes to stdout. */
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Of the terminal, whenever it changes. */
  readonly sizes: AsyncIterable<TerminalSize>;
}

export interface ExecConfig {
  readonly command: readonly string[];
  readonly tty: boolean;
  /** An abort kills the program and what it started; default: it goes on. */
  readonly killOnAbort?: boolean;
}

export interface RuntimeVersion {
  readonly name: string;
  readonly version: string;
  readonly apiVersion: string;
  /** Where on this machine images and containers are kept; undefined when they are not. */
  readonly directory?: string | undefined;
  /**
   * What a container can be run by, by the names that a container's config has; '' is what runs it by
   * default.
   */
  readonly handlers?: readonly RuntimeHandler[];
  /** Containers can have images among their files. */
  readonly canMountImages: boolean;
}

export interface RuntimeHandler {
  readonly name: string;
  /** What is mounted below a read-only mount can be read-only with it. */
  readonly recursiveReadOnlyMounts: boolean;
}

export interface ContainerRuntime {
  version(): Promise<RuntimeVersion>;
  /**
   * Makes sure of what sandboxes are made of; `readArchive` is called when the engine does not have it yet.
   */
  prepare(readArchive: () => Promise<Uint8Array>): Promise<void>;
  /** Everything this agent made, running or not. */
  list(): Promise<readonly RuntimeSummary[]>;
  /** Undefined when it is gone or not ours. */
  inspect(id: string): Promise<RuntimeObject | undefined>;

  /**
   * Makes a sandbox that belongs to no pod yet, with namespaces to join. Leaves nothing behind when it fails.
   */
  runSandbox(config: SandboxConfig): Promise<SandboxState>;
  /** Gives the sandbox to a pod, which the engine remembers; also a sandbox that has ended meanwhile. */
  assignSandbox(id: string, pod: PodReference, attempt: number): Promise<void>;

  createContainer(config: ContainerConfig): Promise<string>;
  /**
   * Changes what a running container is held to; all but its oomScoreAdj. Rejects when the kernel or the
   * engine does not.
   */
  updateResources(id: string, resources: ContainerResources): Promise<void>;
  /**
   * Rejects with `SandboxEnded` or `NoSuchPart` when that is why the container cannot run, else with
   * `CannotRun`.
   */
  startContainer(id: string): Promise<void>;
  /** Asks to stop: the image's stop signal. */
  terminate(id: string): Promise<void>;
  kill(id: string): Promise<void>;
  /** Kills it when it runs. */
  remove(id: string): Promise<void>;

  /** Undefined when this machine does not have it. */
  findImage(name: string): Promise<RuntimeImage | undefined>;
  /** Rejects with `PullFailed`, also when for a minute nothing of it comes. */
  pullImage(
    name: string,
    signal: AbortSignal,
    credentials?: RegistryCredentials,
    onLine?: (line: ProgressLine) => void,
  ): Promise<void>;
  /**
   * Made into containers or mounted, of all that the engine has, also those that do not run and are not ours,
   * by id.
   */
  usedImages(): Promise<ReadonlySet<string>>;
  /**
   * Takes a name off an image, which goes with its last one. Rejects with `Conflict` while a container uses
   * it.
   */
  removeImage(name: string): Promise<void>;
  /** Without the parts that only `findImage` tells. */
  listImages(): Promise<readonly Pick<RuntimeImage, 'id' | 'names' | 'sizeBytes'>[]>;

  /**
   * Opens the container's log. Rejects with RuntimeError when it cannot be read. What it resolves with yields
   * chunks of output, ends when all has been read and, with `follow`, the container has ended, and throws
   * RuntimeError when there would be more that cannot be read. Released when it ends, is left, or the signal
   * aborts.
   */
  logs(id: string, options: LogOptions, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Runs a program in a running container; resolves with its exit status once it has ended and its output has
   * been written. An abort ends the streams, and the program where `config` says so, and rejects once that is
   * done.
   */
  exec(id: string, config: ExecConfig, streams: ProcessStreams, signal: AbortSignal): Promise<number>;
  /** Joins the streams to a container's first process, from now on; resolves when it has ended. */
  attach(id: string, streams: ProcessStreams, signal: AbortSignal): Promise<void>;
  /**
   * Connects the stream to a TCP port of the pod, on its loopback address, until either side is done;
   * rejects, in one line, when nobody listens there. Ends the stream.
   */
  portForward(sandboxId: string, port: number, stream: Duplex, signal: AbortSignal): Promise<void>;
  /**
   * Ends when the signal aborts; ends or throws when the engine goes away; `onReady` is called once nothing
   * can be missed any more.
   */
  events(signal: AbortSignal, onReady: () => void): AsyncIterable<RuntimeEvent>;
}
