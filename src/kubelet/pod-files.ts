/**
 * What a pod has on disk: <data>/pods/<uid>/ with its hosts and resolv.conf, its emptyDirs and its containers'
 * termination messages. Every step is safe to repeat; removal never leaves the pod's own directory.
 */
import { chmod, mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Pod } from '../api/core/v1/pod.ts';
import { parseQuantity, quantityValue } from '../apimachinery/quantity.ts';
import type { Exec } from '../base/exec.ts';
import { renderResolvConf } from './plan/pod-dns.ts';
import { kernelHostname, renderHosts } from './plan/pod-hosts.ts';
import { type HostPathType, VolumeError, type VolumePlan, volumePlan } from './plan/volumes.ts';
import type { Mount } from './runtime/runtime.ts';

export interface PodFilesOptions {
  readonly dataDir: string;
  readonly exec: Exec;
  readonly clusterDNS: string | undefined;
  readonly clusterDomain: string;
  /** The machine's own files, by which its programs resolve names. */
  readonly resolvConf: string;
  readonly hosts: string;
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

  /** Throws VolumeError for what the pod asks for and this machine does not have. */
  async prepareVolumes(pod: Pod): Promise<void> {
    const directory = this.directory(pod.metadata.uid);
    const plans = (pod.spec.volumes ?? []).map((volume) => ({ volume, plan: volumePlan(volume, directory) }));
    await mkdir(directory, { recursive: true, mode: 0o750 });
    for (const { volume, plan } of plans) {
      try {
        await this.#prepare(plan);
      } catch (error) {
        if (error instanceof VolumeError) throw new VolumeError(`volume "${volume.name}": ${error.message}`);
        throw new VolumeError(`volume "${volume.name}": ${(error as Error).message}`, { cause: error });
      }
    }
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
    // Whatever user the container runs as may write it.
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

  async remove(uid: string): Promise<void> {
    const directory = this.directory(uid);
    for (const mounted of (await mountsUnder(directory)).toReversed()) {
      await this.#options.exec('umount', [mounted]);
    }
    await rm(directory, { recursive: true, force: true });
  }

  async #prepare(plan: VolumePlan): Promise<void> {
    if (plan.type === 'hostPath') return prepareHostPath(plan.path, plan.check);
    await mkdir(plan.path, { recursive: true });
    if (plan.type === 'tmpfs' && !(await mountsUnder(plan.path)).includes(plan.path)) {
      const size =
        plan.sizeLimit === undefined ? '' : `,size=${quantityValue(parseQuantity(plan.sizeLimit))}`;
      await this.#options.exec('mount', ['-t', 'tmpfs', '-o', `mode=0777${size}`, 'tmpfs', plan.path]);
    }
    await chmod(plan.path, 0o777);
  }
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

/** Mount points at and below a directory, outer ones first. */
async function mountsUnder(directory: string): Promise<readonly string[]> {
  const lines = (await readFile('/proc/self/mounts', 'utf8')).split('\n');
  const points = lines.map((line) => unescapeMountPoint(line.split(' ')[1] ?? ''));
  return points.filter((point) => point === directory || point.startsWith(`${directory}/`));
}

/** The kernel writes blanks and the like in octal. */
const unescapeMountPoint = (text: string) =>
  text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

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
