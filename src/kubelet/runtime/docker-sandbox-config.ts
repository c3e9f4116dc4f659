/** The configuration of a pod's sandbox in the Docker API: its name and its options. Pure. */
import type { Docker } from '../../docker/client.ts';
import type { PodReference } from './container-config.ts';
import { labels } from './docker-labels.ts';
import type { SandboxConfig } from './runtime.ts';

/**
 * Returns dockershim's name for a sandbox, from which the pod is read back:
 * `k8s_POD_<pod>_<namespace>_<uid>_<attempt>`.
 */
export function sandboxName(pod: PodReference, attempt: number): string {
  return `k8s_POD_${pod.name}_${pod.namespace}_${pod.uid}_${attempt}`;
}

export function parseSandboxName(name: string): { pod: PodReference; attempt: number } | undefined {
  const [prefix, role, podName, namespace, uid, attempt, ...rest] = name.replace(/^\//, '').split('_');
  if (prefix !== 'k8s' || role !== 'POD' || rest.length > 0) return undefined;
  if (!podName || !namespace || !uid || !attempt) return undefined;
  return { pod: { name: podName, namespace, uid }, attempt: Number(attempt) };
}

export function sandboxOptions(
  config: SandboxConfig,
  owner: string,
  image: string,
  lowestOomScore: number,
): Docker.ContainerCreateOptions {
  const inHostNetwork = config.ip === undefined;
  return {
    Image: image,
    ...(inHostNetwork && { Cmd: ['host'] }),
    ...(config.hostname !== undefined && { Hostname: config.hostname }),
    Labels: {
      [labels.owner]: owner,
      [labels.role]: 'sandbox',
      ...(config.ip !== undefined && { [labels.ip]: config.ip }),
    },
    HostConfig: {
      // The pause process makes its own namespace and then gives up these capabilities (pause.c).
      NetworkMode: 'host',
      ...(inHostNetwork && { UTSMode: 'host' }),
      IpcMode: 'shareable',
      CapDrop: ['ALL'],
      CapAdd: ['SYS_ADMIN', 'SETUID', 'SETGID', 'SETPCAP'],
      // The engine compiles a seccomp filter anew for every container, which costs more than everything that
      // pause does. The pause program is part of minik8s, takes no input, drops every capability and cannot
      // gain one. Containers that join the sandbox have their own filter.
      SecurityOpt: ['seccomp=unconfined'],
      OomScoreAdj: Math.max(-998, lowestOomScore),
      LogConfig: { Type: 'none', Config: {} },
    },
  };
}
