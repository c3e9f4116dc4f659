/**
 * What a pod has on disk: <data>/pods/<uid>/ with its hosts and resolv.conf, its emptyDirs and its containers'
 * termination messages; <data>/volume-subpaths/<uid>/ with the parts of volumes that its containers have. Every step is
 * safe to repeat; removal never leaves the pod's own directory.
 */
import { chmod, chown, mkdir, open, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Pod } from '../api/core/v1/pod.ts';
import type { Container } from '../api/core/v1/types.gen.ts';
import type { Exec } from '../base/exec.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import { removeTree } from '../base/remove-tree.ts';
import { currentFiles } from './atomic-files.ts';
import { isMountPoint, unmountUnder } from './mounts.ts';
import { ContainerConfigError } from './plan/container-config-error.ts';
import { renderResolvConf } from './plan/pod-dns.ts';
import { kernelHostname, renderHosts } from './plan/pod-hosts.ts';
import { VolumeError } from './plan/volume-error.ts';
import {
  containerMounts,
  type HostPathType,
  memoryVolumeBytes,
  type VolumePlan,
  volumePlan,
} from './plan/volumes.ts';
import type { ProjectedVolumes } from './projected-volumes.ts';
import type { Mount } from './runtime/runtime.ts';
import { mountSubPath, removeSubPaths } from './sub-paths.ts';

export interface PodFilesOptions {
  readonly dataDir: string;
  readonly exec: Exec;
  readonly clusterDNS: string | undefined;
  readonly clusterDomain: string;
  /** The machine's own files, by which its programs resolve names. */
  readonly resolvConf: string;
  readonly hosts: string;
  /** What pods may have of this machine's memory, in bytes. */
  readonly allocatableMemory: number;
  /** Writes the volumes whose files come from the API. */
  readonly projected: Pick<ProjectedVolumes, 'forget' | 'write'>;
  readonly log: Logger;
}

/** Kubernetes keeps no more of a termination message. */
const messageLimit = 4096;

export class PodFiles {
  readonly #options: PodFilesOptions;

  constructor(options: PodFilesOptions) {
    this.#options = options;
  }

  directory(uid: string): string {
    return join(this.#options.dataDir, 'pods', uid);
  }

  /** Where a volume of the pod is that is not the machine's own. */
  volume(uid: string, name: string): string {
    return join(this.directory(uid), 'volumes', name);
  }

  /** Not below the pod's directory, which is measured and removed as a whole. */
  #subPaths(uid: string): string {
    return join(this.#options.dataDir, 'volume-subpaths', uid);
  }

  /** Throws VolumeError for what the pod asks for and this machine does not have. */
  async prepareVolumes(pod: Pod): Promise<void> {
    const directory = this.directory(pod.metadata.uid);
    const { fsGroup } = pod.spec.securityContext;
    const plans = (pod.spec.volumes ?? []).map((volume) => ({ volume, plan: volumePlan(volume, directory) }));
    await mkdir(directory, { recursive: true, mode: 0o750 });
    for (const { volume, plan } of plans) {
      try {
        await this.#prepare(pod, plan);
        const isMade = plan.type === 'directory' || plan.type === 'tmpfs';
        if (fsGroup !== undefined && isMade) await giveToGroup(plan.path, fsGroup);
      } catch (error) {
        if (error instanceof VolumeError) throw new VolumeError(`volume "${volume.name}": ${error.message}`);
        throw new VolumeError(`volume "${volume.name}": ${(error as Error).message}`, { cause: error });
      }
    }
  }

  /**
   * The container's mounts, parts of volumes made and mounted by themselves. Throws VolumeError, and
   * ContainerConfigError for a part that there cannot be. Why is for this machine's log alone: it would tell of the
   * machine's files.
   */
  async containerMounts(
    pod: Pod,
    container: Container,
    env: ReadonlyMap<string, string>,
  ): Promise<readonly Mount[]> {
    const { uid, name, namespace } = pod.metadata;
    const mounts: Mount[] = [];
    for (const { part, ...mount } of containerMounts(pod, container, this.directory(uid), env)) {
      if (!part) {
        mounts.push(mount);
        continue;
      }
      const target = join(this.#subPaths(uid), part.volume, container.name, String(part.index));
      try {
        const volumePath = part.isProjected ? await currentFiles(mount.source) : mount.source;
        const wanted = { volumePath, subPath: part.subPath, target };
        await mountSubPath(wanted, this.#options.exec);
      } catch (cause) {
        const message = `failed to prepare subPath for volumeMount "${part.volume}" of container "${container.name}"`;
        this.#options.log.warn(message, { pod: `${namespace}/${name}`, error: errorMessage(cause) });
        throw new ContainerConfigError(message, { cause });
      }
      mounts.push({ ...mount, source: target });
    }
    return mounts;
  }

  /** What `hostname` says in the pod. Throws when it would be longer than the kernel takes. */
  hostname(pod: Pod): string {
    return kernelHostname(pod, this.#options.clusterDomain);
  }

  /**
   * Writes the files every container of the pod is given; resolves to what its user should know about them. A pod in
   * the host's network has no `podIP`.
   */
  async prepareNames(pod: Pod, podIP: string | undefined): Promise<readonly string[]> {
    const { clusterDNS, clusterDomain, resolvConf, hosts } = this.#options;
    const directory = this.directory(pod.metadata.uid);
    const [hostResolvConf, hostHosts] = await Promise.all([textOf(resolvConf), textOf(hosts)]);
    const { text, warnings } = renderResolvConf(pod, { clusterDNS, clusterDomain, hostResolvConf });
    await Promise.all([
      writeFile(join(directory, 'hosts'), renderHosts(pod, { podIP, clusterDomain, hostHosts })),
      writeFile(join(directory, 'hostname'), `${this.hostname(pod)}\n`),
      writeFile(join(directory, 'resolv.conf'), text),
    ]);
    return warnings;
  }

  nameMounts(pod: Pod, taken: readonly Mount[]): readonly Mount[] {
    const directory = this.directory(pod.metadata.uid);
    const files = pod.spec.hostNetwork
      ? (['hosts', 'resolv.conf'] as const)
      : (['hosts', 'hostname', 'resolv.conf'] as const);
    return files
      .map((file) => ({ source: join(directory, file), target: `/etc/${file}`, readOnly: false }))
      .filter(({ target }) => !taken.some((mount) => mount.target === target));
  }

  /** An empty file for the container's last words; returns its path. */
  async makeTerminationFile(uid: string, container: string, attempt: number): Promise<string> {
    const path = join(this.directory(uid), 'containers', container, String(attempt));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, '');
    // The container may write it as any user.
    await chmod(path, 0o666);
    return path;
  }

  /** '' when there is none. */
  async readTerminationMessage(path: string): Promise<string> {
    if (path === '') return '';
    try {
      await using file = await open(path);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(messageLimit), 0, messageLimit, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
      throw error;
    }
  }

  /** Rejects when something could not be removed, or with the signal's reason when that aborts. */
  async remove(uid: string, signal?: AbortSignal): Promise<void> {
    const directory = this.directory(uid);
    const { exec, projected } = this.#options;
    projected.forget(uid);
    // Parts of volumes before the volumes.
    await removeSubPaths(this.#subPaths(uid), exec);
    await unmountUnder(directory, exec);
    await removeTree(directory, exec, signal);
  }

  async #prepare(pod: Pod, plan: VolumePlan): Promise<void> {
    if (plan.type === 'hostPath') return prepareHostPath(plan.path, plan.check);
    if (plan.type === 'projected') return this.#project(pod, plan);
    await mkdir(plan.path, { recursive: true });
    if (plan.type === 'tmpfs' && !(await isMountPoint(plan.path))) {
      const { exec, allocatableMemory } = this.#options;
      const size = memoryVolumeBytes(pod, plan.sizeLimit, allocatableMemory);
      await exec('mount', ['-t', 'tmpfs', '-o', `mode=0777,size=${size}`, 'tmpfs', plan.path]);
    }
    await chmod(plan.path, 0o777);
  }

  async #project(pod: Pod, { path, source, inMemory }: Extract<VolumePlan, { type: 'projected' }>) {
    const { exec, projected } = this.#options;
    await mkdir(path, { recursive: true });
    if (inMemory && !(await isMountPoint(path)))
      await exec('mount', ['-t', 'tmpfs', '-o', 'mode=0755', 'tmpfs', path]);
    await chmod(path, 0o755);
    await projected.write(pod, source, path);
  }
}

/** What is made in the directory belongs to the group too; a path of the machine's own is left as it is. */
async function giveToGroup(path: string, group: number): Promise<void> {
  const { uid } = await stat(path);
  await chown(path, uid, group);
  await chmod(path, 0o2777);
}

/** '' when there is no such file. */
async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

async function prepareHostPath(path: string, check: HostPathType): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!found) return createHostPath(path, check);
  const fits: Record<HostPathType, boolean> = {
    '': true,
    Directory: found.isDirectory(),
    DirectoryOrCreate: found.isDirectory(),
    File: found.isFile(),
    FileOrCreate: found.isFile(),
    Socket: found.isSocket(),
    CharDevice: found.isCharacterDevice(),
    BlockDevice: found.isBlockDevice(),
  };
  if (!fits[check]) throw new VolumeError(`hostPath type check failed: ${path} is not a ${check}`);
}

async function createHostPath(path: string, check: HostPathType): Promise<void> {
  if (check === '' || check === 'DirectoryOrCreate') {
    await mkdir(path, { recursive: true, mode: 0o755 });
  } else if (check === 'FileOrCreate') {
    await writeFile(path, '', { flag: 'a', mode: 0o644 });
  } else {
    throw new VolumeError(`hostPath type check failed: ${path} is not a ${check}`);
  }
}
