/**
 * The files with which a pod's programs resolve names: hosts, hostname and resolv.conf, in the pod's own
 * directory.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Mount } from '../runtime/container-config.ts';
import { renderResolvConf } from './plan/pod-dns.ts';
import { kernelHostname, renderHosts } from './plan/pod-hosts.ts';

export interface NameFilesOptions {
  readonly clusterDNS: string | undefined;
  readonly clusterDomain: string;
  /** The machine's own files, with which its programs resolve names. */
  readonly resolvConf: string;
  readonly hosts: string;
}

export class NameFiles {
  readonly #options: NameFilesOptions;

  constructor(options: NameFilesOptions) {
    this.#options = options;
  }

  /** Returns the pod's host name. Throws when it is longer than the kernel accepts. */
  hostname(pod: Pod): string {
    return kernelHostname(pod, this.#options.clusterDomain);
  }

  /**
   * Writes the files for every container of the pod into the pod's directory, which must exist; resolves with
   * warnings for the pod's owner. A pod in the host's network has no `podIPs`.
   */
  async write(pod: Pod, podIPs: readonly string[], directory: string): Promise<readonly string[]> {
    const { clusterDNS, clusterDomain, resolvConf, hosts } = this.#options;
    const [hostResolvConf, hostHosts] = await Promise.all([textOf(resolvConf), textOf(hosts)]);
    const { text, warnings } = renderResolvConf(pod, { clusterDNS, clusterDomain, hostResolvConf });
    await Promise.all([
      writeFile(join(directory, 'hosts'), renderHosts(pod, { podIPs, clusterDomain, hostHosts })),
      writeFile(join(directory, 'hostname'), `${this.hostname(pod)}\n`),
      writeFile(join(directory, 'resolv.conf'), text),
    ]);
    return warnings;
  }

  /** Returns the mounts of the files, except where a mount of the container itself takes the place. */
  mounts(pod: Pod, directory: string, taken: readonly Pick<Mount, 'target'>[]): readonly Mount[] {
    const files = pod.spec.hostNetwork
      ? (['hosts', 'resolv.conf'] as const)
      : (['hosts', 'hostname', 'resolv.conf'] as const);
    return files
      .map((file) => ({ source: join(directory, file), target: `/etc/${file}`, readOnly: false }))
      .filter(({ target }) => !taken.some((mount) => mount.target === target));
  }
}

/** Returns the file's text; '' when it does not exist. */
async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
