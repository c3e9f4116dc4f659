/** The configuration of a container in the Docker API, and which of it an engine supports. Pure. */
import { isAtLeast } from '../../docker/api-version.ts';
import type { Docker } from '../../docker/client.ts';
import type {
  ConfinementProfile,
  ContainerConfig,
  ContainerResources,
  EngineDevices,
  Mount,
  OwnProfile,
  PodReference,
} from './container-config.ts';
import { labels } from './docker-labels.ts';
import { imageMounts } from './image-mounts.ts';
import { defaultLogRotation, engineLogConfig, type LogRotation } from './log-rotation.ts';
import type { RuntimeHandler } from './runtime.ts';

/**
 * Path in the container of the program that waits for its host name: in the tmpfs that every container has.
 */
const initTarget = '/dev/minik8s-init';

const podLabels = (pod: PodReference) => ({
  [labels.podName]: pod.name,
  [labels.podNamespace]: pod.namespace,
  [labels.podUid]: pod.uid,
});

/** Parts of a container's configuration that come from the agent. */
interface AgentSettings {
  /** Name of the agent, by which it finds its containers again. */
  readonly owner: string;
  /** Path on the host of the program that waits for its host name. */
  readonly initPath: string;
  readonly logRotation?: LogRotation;
  /** Maximum number of processes and threads of a container; 0: no limit. */
  readonly maxPids?: number;
}

export function containerOptions(
  config: ContainerConfig,
  settings: AgentSettings,
  lowestOomScore: number,
): Docker.ContainerCreateOptions {
  const argv = waitsForName(config)
    ? [initTarget, 'init', config.hostname ?? '', config.terminationMessagePath, ...config.argv]
    : config.argv;
  return {
    name: `k8s_${config.name}_${config.pod.name}_${config.pod.namespace}_${config.pod.uid}_${config.attempt}`,
    Image: config.imageId,
    Entrypoint: [...argv.slice(0, 1)],
    Cmd: argv.slice(1),
    Env: [...config.env],
    ...(config.workingDir && { WorkingDir: config.workingDir }),
    ...(config.user !== undefined && { User: config.user }),
    OpenStdin: config.stdin,
    StdinOnce: config.stdinOnce,
    Tty: config.tty,
    ...(config.stopSignal !== undefined && { StopSignal: config.stopSignal }),
    // Kubernetes does not run an image's health check.
    Healthcheck: { Test: ['NONE'] },
    Labels: containerLabels(config, settings.owner),
    HostConfig: hostConfig(config, settings, lowestOomScore),
  };
}

/** Returns true if the container's first program waits for the host name, which Docker cannot set. */
const waitsForName = ({ hostname }: ContainerConfig) => hostname !== undefined;

const mountsOf = (config: ContainerConfig, initPath: string): readonly Mount[] =>
  waitsForName(config)
    ? [...config.mounts, { source: initPath, target: initTarget, readOnly: true }]
    : config.mounts;

const containerLabels = (config: ContainerConfig, owner: string) => ({
  ...podLabels(config.pod),
  [labels.owner]: owner,
  [labels.role]: 'container',
  [labels.containerName]: config.name,
  [labels.sandbox]: config.sandboxId,
  [labels.image]: config.image,
  [labels.specHash]: config.specHash,
  [labels.attempt]: String(config.attempt),
  [labels.crashes]: String(config.crashes),
  [labels.gracePeriod]: String(config.gracePeriodSeconds),
  // Set to the empty string when there is none: otherwise the engine would use the image's label.
  [labels.stopTurn]: String(config.stopTurn ?? ''),
  [labels.preStop]: config.preStop ? JSON.stringify(config.preStop) : '',
  [labels.terminationMessage]: config.terminationMessageFile,
  [labels.hostname]: config.hostname ?? '',
  [labels.allocation]: config.allocation ?? '',
  // Set to the empty string when there is none: otherwise the engine would use the image's label.
  [labels.devices]: config.deviceIds ? JSON.stringify(config.deviceIds) : '',
});

function hostConfig(
  config: ContainerConfig,
  { initPath, logRotation = defaultLogRotation, maxPids = 0 }: AgentSettings,
  lowestOomScore: number,
): Docker.HostConfig {
  const { resources } = config;
  return {
    ...(config.runtime === undefined ? {} : { Runtime: config.runtime }),
    ...annotations(config),
    NetworkMode: `container:${config.sandboxId}`,
    IpcMode: config.hostIPC ? 'host' : `container:${config.sandboxId}`,
    ...pidMode(config),
    Mounts: [...mountsOf(config, initPath).map(bindMount), ...imageMounts(config.imageMounts ?? [])],
    Devices: (config.devices ?? []).map(({ source, target, permissions }) => ({
      PathOnHost: source,
      PathInContainer: target,
      CgroupPermissions: permissions,
    })),
    ...deviceRequests(config.engineDevices),
    ...heldTo(resources),
    ...(maxPids > 0 && { PidsLimit: maxPids }),
    OomScoreAdj: Math.max(resources.oomScoreAdj, lowestOomScore),
    Privileged: config.privileged,
    ReadonlyRootfs: config.readOnlyRootFilesystem,
    CapAdd: [...config.addCapabilities],
    CapDrop: [...config.dropCapabilities],
    GroupAdd: config.groups.map(String),
    // The engine writes these into the sandbox's namespaces each time that one of its containers starts.
    Sysctls: { ...config.sysctls },
    SecurityOpt: securityOptions(config),
    LogConfig: engineLogConfig(logRotation),
  };
}

/**
 * Period of the CPU quota. Docker's own unit (NanoCpus) is not used, because it cannot exceed the machine's
 * number of CPUs.
 */
export const cpuPeriodUs = 100_000;
const nanoPerUs = 1e9 / cpuPeriodUs;

/** Returns the resource settings for creating or updating a container; in an update, 0 means no change. */
export const heldTo = ({ nanoCpus, cpuShares, memory }: ContainerResources) => ({
  ...(nanoCpus > 0 && { CpuPeriod: cpuPeriodUs, CpuQuota: Math.round(nanoCpus / nanoPerUs) }),
  CpuShares: cpuShares,
  Memory: memory,
  // If this is not set, Docker allows the same amount of swap in addition to memory; in Kubernetes the limit
  // includes swap.
  ...(memory > 0 && { MemorySwap: memory }),
});

/**
 * Returns annotations that make one containerd shim serve the whole pod instead of one per container. A
 * container without the annotation, such as the sandbox, has its own id as the group. Docker supports it from
 * version 24 on and ignores it before; dockerode's types lack it.
 */
const annotations = ({ sandboxId, annotations: others }: ContainerConfig): object => ({
  Annotations: { ...others, 'io.containerd.runc.v2.group': sandboxId },
});

function deviceRequests({ cdi, nvidia }: EngineDevices = { cdi: [], nvidia: [] }): {
  DeviceRequests?: Docker.DeviceRequest[];
} {
  const requests = [
    ...(cdi.length > 0 ? [{ Driver: 'cdi', DeviceIDs: [...cdi] }] : []),
    ...(nvidia.length > 0 ? [{ Driver: 'nvidia', DeviceIDs: [...nvidia], Capabilities: [['gpu']] }] : []),
  ];
  return requests.length > 0 ? { DeviceRequests: requests } : {};
}

/** Docker's names of the propagation modes. */
const propagations = { HostToContainer: 'rslave', Bidirectional: 'rshared' } as const;

/**
 * Converts a mount. Propagation is left out when the pod requests none, although dockerode's type requires
 * one: a volume that contains Docker's own directory needs another mode than the default. Mounts below a
 * read-only volume stay writable, as in Kubernetes: from Docker 25 on that must be requested.
 */
function bindMount({
  source,
  target,
  readOnly,
  recursiveReadOnly,
  propagation,
}: Mount): Docker.MountSettings {
  const options = {
    ...(propagation && { Propagation: propagations[propagation] }),
    ...(readOnly && recursiveReadOnly === undefined && { ReadOnlyNonRecursive: true }),
    ...(readOnly && recursiveReadOnly === 'Enabled' && { ReadOnlyForceRecursive: true }),
  };
  return {
    Type: 'bind',
    Source: source,
    Target: target,
    ReadOnly: readOnly,
    ...(Object.keys(options).length > 0 && {
      BindOptions: options as unknown as Docker.MountSettings['BindOptions'],
    }),
  };
}

/**
 * Oldest API version with recursive read-only mounts (Docker 25); older engines ignore the setting without an
 * error.
 */
export const recursiveReadOnlyApi = '1.44';

/** Fields of `docker info`. */
export interface EngineRuntimes {
  readonly Runtimes?: Readonly<Record<string, { readonly path?: string }>>;
  readonly DefaultRuntime?: string;
  readonly KernelVersion?: string;
}

/**
 * Returns the engine's runtimes with their capabilities. Capabilities of runtimes other than runc are unknown
 * and count as absent.
 */
export function runtimeHandlers(
  { Runtimes = {}, DefaultRuntime = '', KernelVersion = '' }: EngineRuntimes,
  apiVersion: string,
): readonly RuntimeHandler[] {
  const [kernel = '0.0'] = /^\d+\.\d+/.exec(KernelVersion) ?? [];
  const can = isAtLeast(apiVersion, recursiveReadOnlyApi) && isAtLeast(kernel, recursiveReadOnlyKernel);
  const isRunc = (name: string) => name === 'runc' || Runtimes[name]?.path === 'runc';
  const named = Object.keys(Runtimes)
    .toSorted()
    .map((name) => ({ name, recursiveReadOnlyMounts: can && isRunc(name) }));
  return [{ name: '', recursiveReadOnlyMounts: can && isRunc(DefaultRuntime) }, ...named];
}

const recursiveReadOnlyKernel = '5.12';

function pidMode({ processes, sandboxId }: ContainerConfig): { PidMode?: string } {
  if (processes === 'own') return {};
  if (typeof processes === 'object') return { PidMode: `container:${processes.container}` };
  return { PidMode: processes === 'host' ? 'host' : `container:${sandboxId}` };
}

function confinement(option: string, wanted: ConfinementProfile | OwnProfile | undefined): string[] {
  if (typeof wanted === 'object') return [`${option}=${wanted.profile}`];
  return wanted === 'Unconfined' ? [`${option}=unconfined`] : [];
}

/** Returns Docker's security options. A profile that is not set leaves the engine's default in force. */
const securityOptions = ({ noNewPrivileges, seccomp, appArmor, seLinux }: ContainerConfig) => [
  ...(noNewPrivileges ? ['no-new-privileges'] : []),
  ...confinement('seccomp', seccomp),
  ...confinement('apparmor', appArmor),
  // These labels have no effect on a machine without SELinux, as upstream.
  ...Object.entries(seLinux).map(([part, label]) => `label=${part}:${label}`),
];

export const asksForConfinement = ({ seccomp, appArmor }: Pick<ContainerConfig, 'seccomp' | 'appArmor'>) =>
  [seccomp, appArmor].some((wanted) => wanted !== undefined && wanted !== 'Unconfined');

/**
 * Returns the confinement that a container requires and the engine does not support, because the engine would
 * ignore it without an error; undefined if there is none. `offered` is what `docker info` calls Security
 * Options, such as `name=seccomp,profile=default`.
 */
export function missingConfinement(
  { seccomp, appArmor }: Pick<ContainerConfig, 'seccomp' | 'appArmor'>,
  offered: readonly string[],
): string | undefined {
  const isRequested = (wanted: ConfinementProfile | OwnProfile | undefined) =>
    wanted !== undefined && wanted !== 'Unconfined';
  const has = (name: string, isDefault: boolean) =>
    offered.some((option) => {
      const parts = option.split(',');
      return parts.includes(`name=${name}`) && !(isDefault && parts.includes('profile=unconfined'));
    });
  if (isRequested(seccomp) && !has('seccomp', seccomp === 'RuntimeDefault')) return 'seccomp';
  return isRequested(appArmor) && !has('apparmor', appArmor === 'RuntimeDefault') ? 'AppArmor' : undefined;
}
