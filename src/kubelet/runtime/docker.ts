/**
 * The Docker engine as a ContainerRuntime.
 *
 * Sandboxes are started with the host's network and make a namespace of their own (pause.c), because Docker's
 * network set-up costs more than everything else in a pod. A sandbox is therefore ready only once its
 * namespace differs from this process's: `runSandbox` waits for that before anything is moved into the
 * namespace or joins it.
 */
import { mkdir, readlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Duplex, Readable } from 'node:stream';
import { BoundedMap } from '../../base/bounded-map.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { isAtLeast } from '../../docker/api-version.ts';
import { call, unlessGone } from '../../docker/call.ts';
import { type Docker, dockerClient } from '../../docker/client.ts';
import {
  drain,
  inspectImage,
  type ProgressLine,
  pullImage,
  removeImage,
  usedImages,
} from '../../docker/images.ts';
import { RuntimeError } from '../../docker/runtime-error.ts';
import { firstFileOfTar } from '../../docker/streams.ts';
import type { Exec } from '../../os/exec.ts';
import { replaceFile } from '../../os/replace-file.ts';
import type { ContainerConfig, ContainerResources, PodReference } from './container-config.ts';
import {
  asksForConfinement,
  containerOptions,
  type EngineRuntimes,
  heldTo,
  missingConfinement,
  recursiveReadOnlyApi,
  runtimeHandlers,
} from './docker-config.ts';
import { labels } from './docker-labels.ts';
import { openLog } from './docker-logs.ts';
import { sandboxName, sandboxOptions } from './docker-sandbox-config.ts';
import { fromInspect } from './docker-state.ts';
import { attachTo, execIn } from './docker-streams.ts';
import { engineEvents } from './engine-events.ts';
import { readFirstUser } from './first-user.ts';
import { HostNames } from './host-names.ts';
import { imageMountApi, missingPart } from './image-mounts.ts';
import type { LogRotation } from './log-rotation.ts';
import { OomKills } from './oom-kills.ts';
import { lowestOomScore } from './oom-score.ts';
import { connectPort } from './pod-port.ts';
import type {
  ContainerRuntime,
  ContainerState,
  ExecConfig,
  LinuxUser,
  LogOptions,
  ProcessStreams,
  RegistryCredentials,
  RuntimeEvent,
  RuntimeImage,
  RuntimeObject,
  RuntimeSummary,
  RuntimeVersion,
  SandboxConfig,
  SandboxState,
} from './runtime.ts';

export interface DockerRuntimeOptions {
  /** Path of the engine's socket; default: DOCKER_HOST, else Docker's standard path. */
  readonly socketPath?: string;
  /**
   * Label value on everything that is created here; objects with another owner are never returned or changed.
   */
  readonly owner: string;
  readonly pauseImage: string;
  /** Path of the pause program on this machine, from which it is mounted into containers. */
  readonly initPath: string;
  /** Log rotation of containers that are created from now on; default `defaultLogRotation`. */
  readonly logRotation?: LogRotation;
  /** Maximum number of processes and threads of a container that is created from now on; 0: no limit. */
  readonly maxPids?: number;
  /** Path of the kernel's log; default /dev/kmsg. */
  readonly kernelLog?: string;
  readonly clock: Clock;
  readonly exec: Exec;
}

interface EngineInfo {
  readonly SecurityOptions: readonly string[];
}

/** Maximum number of containers whose users are remembered; a forgotten one is read again. */
const maxUsers = 4096;
/** Longest wait for a sandbox to leave the host's network; it takes a millisecond. */
const namespaceTimeout = 10_000;

export class DockerRuntime implements ContainerRuntime {
  readonly #docker: Docker;
  readonly #options: DockerRuntimeOptions;
  readonly #hostNames: HostNames;
  /** Ids of containers made here that need no host name from the agent. */
  readonly #named = new Set<string>();
  readonly #users = new BoundedMap<LinuxUser>(maxUsers);
  readonly #oomKills: OomKills;
  #lowestOomScore = 0;
  /** Newest API version that the engine supports, as last read. */
  #apiVersion: string | undefined;
  #securityOptions: readonly string[] | undefined;

  constructor(options: DockerRuntimeOptions) {
    this.#options = options;
    this.#docker = dockerClient(options.socketPath);
    this.#hostNames = new HostNames(this.#docker, options);
    this.#oomKills = new OomKills(options.kernelLog);
  }

  async version(): Promise<RuntimeVersion> {
    const [found, info] = await call('report its version', () =>
      Promise.all([this.#docker.version(), this.#docker.info()]),
    );
    const { DockerRootDir: directory } = info;
    const { Version: version, ApiVersion: apiVersion } = found;
    this.#apiVersion = apiVersion;
    const handlers = runtimeHandlers(info as EngineRuntimes, apiVersion);
    const canMountImages = isAtLeast(apiVersion, imageMountApi);
    return { name: 'docker', version, apiVersion, directory, canMountImages, handlers };
  }

  async prepare(readArchive: () => Promise<Uint8Array>): Promise<void> {
    const { pauseImage, initPath, owner } = this.#options;
    this.#lowestOomScore = await lowestOomScore();
    if (!(await this.findImage(pauseImage))) {
      const archive = Readable.from([Buffer.from(await readArchive())]);
      const answer = await call(`load ${pauseImage}`, () => this.#docker.loadImage(archive));
      await drain(answer as AsyncIterable<Uint8Array>, `load ${pauseImage}`);
    }
    const container = await call(`read ${pauseImage}`, () =>
      this.#docker.createContainer({
        Image: pauseImage,
        Labels: { [labels.owner]: owner, [labels.role]: 'sandbox' },
        NetworkDisabled: true,
      }),
    );
    try {
      const archive = await call(`read ${pauseImage}`, () => container.getArchive({ path: '/pause' }));
      const program = firstFileOfTar(await collect(archive as AsyncIterable<Uint8Array>));
      await mkdir(dirname(initPath), { recursive: true, mode: 0o700 });
      // The file is replaced, not rewritten: containers hold the old one.
      await replaceFile(initPath, program, { mode: 0o755 });
    } finally {
      await this.remove(container.id);
    }
    await this.#hostNames.setAll();
  }

  async list(): Promise<readonly RuntimeSummary[]> {
    const filters = { label: [`${labels.owner}=${this.#options.owner}`] };
    const found = await call('list containers', () => this.#docker.listContainers({ all: true, filters }));
    return found.map((info) => ({
      id: info.Id,
      kind: info.Labels[labels.role] === 'sandbox' ? 'sandbox' : 'container',
      state: info.State === 'running' ? 'running' : info.State === 'created' ? 'created' : 'exited',
    }));
  }

  async inspect(id: string): Promise<RuntimeObject | undefined> {
    const info = await unlessGone(call('inspect', () => this.#docker.getContainer(id).inspect()));
    const found = info && fromInspect(info, this.#options.owner);
    if (found?.kind !== 'container') return found;
    const user = await this.#userOf(found);
    if (found.state === 'running') await this.#oomKills.started(id, found.pid);
    const oomKilled = found.oomKilled || (found.state === 'exited' && (await this.#oomKills.has(id)));
    return { ...found, oomKilled, ...(user && { user }) };
  }

  async runSandbox(config: SandboxConfig): Promise<SandboxState> {
    const { owner, pauseImage } = this.#options;
    const options = sandboxOptions(config, owner, pauseImage, this.#lowestOomScore);
    const container = await call('create a sandbox', () => this.#docker.createContainer(options));
    try {
      await call('start a sandbox', () => container.start());
      const sandbox = await this.#sandbox(container.id);
      if (config.ip !== undefined) await this.#leftHostNetwork(sandbox);
      return sandbox;
    } catch (error) {
      await this.remove(container.id);
      throw error;
    }
  }

  async assignSandbox(id: string, pod: PodReference, attempt: number): Promise<void> {
    const name = sandboxName(pod, attempt);
    await call('name a sandbox', () => this.#docker.getContainer(id).rename({ name }));
  }

  async createContainer(config: ContainerConfig): Promise<string> {
    await this.#requireConfinement(config);
    if (config.mounts.some(({ recursiveReadOnly }) => recursiveReadOnly === 'Enabled'))
      await this.#requireApi(recursiveReadOnlyApi, 'mounts that are read-only with all below them');
    if (config.imageMounts?.length) await this.#requireApi(imageMountApi, 'mounts of images');
    const options = containerOptions(config, this.#options, this.#lowestOomScore);
    const container = await call(`create container ${config.name}`, () =>
      this.#docker.createContainer(options),
    );
    if (config.hostname === undefined) this.#named.add(container.id);
    return container.id;
  }

  async updateResources(id: string, resources: ContainerResources): Promise<void> {
    await call('update the resources of a container', () =>
      this.#docker.getContainer(id).update(heldTo(resources)),
    );
  }

  async startContainer(id: string): Promise<void> {
    const container = this.#docker.getContainer(id);
    const named = this.#named.delete(id);
    try {
      await call('start', () => container.start(), 'CannotRun');
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.reason !== 'CannotRun') throw error;
      if (await this.#lostSandbox(id))
        throw new RuntimeError('SandboxEnded', error.message, { cause: error });
      const info = await unlessGone(call('inspect', () => container.inspect()));
      const part = info && missingPart(info, error.message);
      // Docker's message names directories of the machine, so it is not passed on.
      if (part !== undefined) throw new RuntimeError('NoSuchPart', `there is no ${part}`, { cause: error });
      throw error;
    }
    if (!named) await this.#hostNames.set(id);
  }

  async terminate(id: string): Promise<void> {
    const container = this.#docker.getContainer(id);
    const info = await unlessGone(call('inspect', () => container.inspect()));
    if (!info?.State.Running) return;
    const { StopSignal } = info.Config as { StopSignal?: string };
    await unlessGone(call('stop', () => container.kill({ signal: StopSignal || 'SIGTERM' })));
  }

  async kill(id: string): Promise<void> {
    await unlessGone(call('kill', () => this.#docker.getContainer(id).kill({ signal: 'SIGKILL' })));
  }

  async remove(id: string): Promise<void> {
    this.#named.delete(id);
    await unlessGone(call('remove', () => this.#docker.getContainer(id).remove({ force: true, v: true })));
  }

  async findImage(name: string): Promise<RuntimeImage | undefined> {
    const info = await inspectImage(this.#docker, name);
    if (!info) return undefined;
    return {
      id: info.Id,
      names: [...(info.RepoDigests ?? []), ...(info.RepoTags ?? [])],
      sizeBytes: info.Size,
      entrypoint: asList(info.Config?.Entrypoint),
      command: asList(info.Config?.Cmd),
      user: info.Config?.User ?? '',
      stopSignal: (info.Config as { StopSignal?: string } | undefined)?.StopSignal ?? '',
    };
  }

  pullImage(
    name: string,
    signal: AbortSignal,
    credentials?: RegistryCredentials,
    onLine?: (line: ProgressLine) => void,
  ): Promise<void> {
    const { clock } = this.#options;
    return pullImage(this.#docker, name, { signal, clock, ...(onLine && { onLine }), ...credentials });
  }

  usedImages(): Promise<ReadonlySet<string>> {
    return usedImages(this.#docker);
  }

  removeImage(name: string): Promise<void> {
    return removeImage(this.#docker, name);
  }

  async listImages(): Promise<readonly Pick<RuntimeImage, 'id' | 'names' | 'sizeBytes'>[]> {
    const images = await call('list images', () => this.#docker.listImages());
    return images.map(({ Id, RepoTags, RepoDigests, Size }) => ({
      id: Id,
      names: [...(RepoDigests ?? []), ...(RepoTags ?? [])].filter((name) => !name.includes('<none>')),
      sizeBytes: Size,
    }));
  }

  logs(id: string, options: LogOptions, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return openLog(this.#docker, id, options, this.#options.clock, signal);
  }

  exec(id: string, config: ExecConfig, streams: ProcessStreams, signal: AbortSignal): Promise<number> {
    return execIn(this.#docker, id, config, streams, this.#options.clock, signal);
  }

  attach(id: string, streams: ProcessStreams, signal: AbortSignal): Promise<void> {
    return attachTo(this.#docker.getContainer(id), streams, this.#options.clock, signal);
  }

  async portForward(sandboxId: string, port: number, stream: Duplex, signal: AbortSignal): Promise<void> {
    const { pid } = await this.#sandbox(sandboxId);
    await connectPort(this.#options.initPath, pid, port, stream, signal);
  }

  events(signal: AbortSignal, onReady: () => void): AsyncIterable<RuntimeEvent> {
    const options = { ...this.#options, oomKills: this.#oomKills };
    return engineEvents(this.#docker, options, signal, onReady);
  }

  /**
   * Returns the user of a container's first process. It is read once while the container runs, and remembered
   * for its end.
   */
  async #userOf({ id, pid, state }: ContainerState): Promise<LinuxUser | undefined> {
    const known = this.#users.get(id);
    if (known || state !== 'running') return known;
    const user = await readFirstUser(id, pid);
    if (user) this.#users.set(id, user);
    return user;
  }

  async #requireConfinement(config: ContainerConfig): Promise<void> {
    if (!asksForConfinement(config)) return;
    this.#securityOptions ??= (
      (await call('report its security options', () => this.#docker.info())) as EngineInfo
    ).SecurityOptions;
    const missing = missingConfinement(config, this.#securityOptions);
    if (missing === undefined) return;
    // The options are read again next time, because the support may have been set up meanwhile.
    this.#securityOptions = undefined;
    throw new RuntimeError('Failed', `Docker on this machine does not support ${missing}`);
  }

  async #requireApi(least: string, what: string): Promise<void> {
    this.#apiVersion ??= (await this.version()).apiVersion;
    if (!isAtLeast(this.#apiVersion, least))
      throw new RuntimeError('Failed', `Docker on this machine does not support ${what}`);
  }

  async #sandbox(id: string): Promise<SandboxState> {
    const found = await this.inspect(id);
    if (found?.kind !== 'sandbox') throw new RuntimeError('NotFound', `sandbox ${id.slice(0, 12)} is gone`);
    return found;
  }

  /**
   * Returns true when the container's sandbox has ended. Also checks with the kernel: Docker notices the end
   * of each container separately, and may notice the end of the sandbox last.
   */
  async #lostSandbox(containerId: string): Promise<boolean> {
    const container = await this.inspect(containerId);
    if (container?.kind !== 'container') return false;
    const sandbox = await this.inspect(container.sandboxId);
    if (sandbox?.state !== 'running') return true;
    return readlink(`/proc/${sandbox.pid}/ns/net`).then(
      () => false,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    );
  }

  async #leftHostNetwork({ id, pid }: SandboxState): Promise<void> {
    const { clock } = this.#options;
    const ours = await readlink('/proc/self/ns/net');
    const deadline = clock.now() + namespaceTimeout;
    while (clock.now() < deadline) {
      const theirs = await readlink(`/proc/${pid}/ns/net`).catch((error: NodeJS.ErrnoException) => {
        throw new RuntimeError('Failed', `sandbox ${id.slice(0, 12)} exited immediately`, { cause: error });
      });
      if (theirs !== ours) return;
      await sleep(clock, 1);
    }
    throw new RuntimeError('Failed', `sandbox ${id.slice(0, 12)} has no network namespace`);
  }
}

function asList(value: string | readonly string[] | null | undefined): readonly string[] {
  if (value === null || value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
