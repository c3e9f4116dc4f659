/** Converts between the node agent's types and the Docker API's. Pure: makes no call. */
import { isAtLeast } from '../../docker/api-version.ts';
import type { Docker } from '../../docker/client.ts';
import { imageMounts } from './image-mounts.ts';
import { defaultLogRotation, engineLogConfig, type LogRotation } from './log-rotation.ts';
import type {
  ConfinementProfile,
  ContainerConfig,
  ContainerResources,
  ContainerState,
  EngineDevices,
  Mount,
  OwnProfile,
  PodReference,
  PreStop,
  RunState,
  RuntimeHandler,
  RuntimeObject,
  SandboxConfig,
  SandboxState,
} from './runtime.ts';

/**
 * Label names; those of Kubernetes are the kubelet's own, so that cAdvisor and similar tools recognize the
 * containers.
 */
export const labels = {
  owner: 'minik8s.io/node',
  role: 'minik8s.io/role',
  podName: 'io.kubernetes.pod.name',
  podNamespace: 'io.kubernetes.pod.namespace',
  podUid: 'io.kubernetes.pod.uid',
  containerName: 'io.kubernetes.container.name',
  ip: 'minik8s.io/pod-ip',
  sandbox: 'minik8s.io/sandbox',
  image: 'minik8s.io/image',
  specHash: 'minik8s.io/spec-hash',
  attempt: 'minik8s.io/attempt',
  crashes: 'minik8s.io/crashes',
  gracePeriod: 'minik8s.io/grace-period',
  stopTurn: 'minik8s.io/stop-turn',
  preStop: 'minik8s.io/pre-stop',
  terminationMessage: 'minik8s.io/termination-message',
  hostname: 'minik8s.io/hostname',
  allocation: 'minik8s.io/allocation',
  devices: 'minik8s.io/devices',
} as const;

/**
 * Path in the container of the program that waits for its host name: in the tmpfs that every container has.
 */
const initTarget = '/dev/minik8s-init';

const podLabels = (pod: PodReference) => ({
  [labels.podName]: pod.name,
  [labels.podNamespace]: pod.namespace,
  [labels.podUid]: pod.uid,
});

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
      // pause does. The pause program is our own, takes no input, ends up without any capability and cannot
      // gain one. Containers that join the sandbox have their own filter.
      SecurityOpt: ['seccomp=unconfined'],
      OomScoreAdj: Math.max(-998, lowestOomScore),
      LogConfig: { Type: 'none', Config: {} },
    },
  };
}

export function containerOptions(
  config: ContainerConfig,
  {
    owner,
    initPath,
    logRotation = defaultLogRotation,
  }: { readonly owner: string; readonly initPath: string; readonly logRotation?: LogRotation },
  lowestOomScore: number,
): Docker.ContainerCreateOptions {
  const { resources } = config;
  const waits = config.hostname !== undefined;
  const argv = waits
    ? [initTarget, 'init', config.hostname, config.terminationMessagePath, ...config.argv]
    : config.argv;
  const mounts = waits
    ? [...config.mounts, { source: initPath, target: initTarget, readOnly: true }]
    : config.mounts;
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
    Labels: {
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
    },
    HostConfig: {
      ...(config.runtime === undefined ? {} : { Runtime: config.runtime }),
      ...annotations(config),
      NetworkMode: `container:${config.sandboxId}`,
      IpcMode: config.hostIPC ? 'host' : `container:${config.sandboxId}`,
      ...pidMode(config),
      Mounts: [...mounts.map(bindMount), ...imageMounts(config.imageMounts ?? [])],
      Devices: (config.devices ?? []).map(({ source, target, permissions }) => ({
        PathOnHost: source,
        PathInContainer: target,
        CgroupPermissions: permissions,
      })),
      ...deviceRequests(config.engineDevices),
      ...heldTo(resources),
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
    },
  };
}

/**
 * Period of the CPU quota. Docker's own unit (NanoCpus) is not used, because it cannot exceed the machine's
 * number of CPUs.
 */
const cpuPeriodUs = 100_000;
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

function resourcesFrom({ HostConfig }: Docker.ContainerInspectInfo): ContainerResources {
  const { NanoCpus = 0, CpuPeriod, CpuQuota = 0, CpuShares = 0, Memory = 0, OomScoreAdj = 0 } = HostConfig;
  const nanoCpus = CpuQuota > 0 ? Math.round((CpuQuota * 1e9) / (CpuPeriod || cpuPeriodUs)) : NanoCpus;
  return { nanoCpus, cpuShares: CpuShares, memory: Memory, oomScoreAdj: OomScoreAdj };
}

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
  const asks = (wanted: ConfinementProfile | OwnProfile | undefined) =>
    wanted !== undefined && wanted !== 'Unconfined';
  const has = (name: string, isDefault: boolean) =>
    offered.some((option) => {
      const parts = option.split(',');
      return parts.includes(`name=${name}`) && !(isDefault && parts.includes('profile=unconfined'));
    });
  if (asks(seccomp) && !has('seccomp', seccomp === 'RuntimeDefault')) return 'seccomp';
  return asks(appArmor) && !has('apparmor', appArmor === 'RuntimeDefault') ? 'AppArmor' : undefined;
}

/** Returns undefined for a container of another owner. */
export function fromInspect(info: Docker.ContainerInspectInfo, owner: string): RuntimeObject | undefined {
  const own = info.Config.Labels;
  if (own[labels.owner] !== owner) return undefined;
  return own[labels.role] === 'sandbox' ? sandboxFrom(info) : containerFrom(info);
}

function sandboxFrom(info: Docker.ContainerInspectInfo): SandboxState {
  const bound = parseSandboxName(info.Name);
  return {
    kind: 'sandbox',
    id: info.Id,
    pod: bound?.pod,
    state: runState(info),
    pid: info.State.Pid,
    ip: info.Config.Labels[labels.ip],
    hostname: info.Config.Hostname,
    attempt: bound?.attempt ?? 0,
    createdAt: Date.parse(info.Created),
  };
}

function containerFrom(info: Docker.ContainerInspectInfo): ContainerState {
  const label = (name: string) => info.Config.Labels[name] ?? '';
  const createdAt = Date.parse(info.Created);
  const state = runState(info);
  return {
    kind: 'container',
    id: info.Id,
    pod: { name: label(labels.podName), namespace: label(labels.podNamespace), uid: label(labels.podUid) },
    name: label(labels.containerName),
    sandboxId: label(labels.sandbox),
    state,
    pid: info.State.Pid,
    image: label(labels.image),
    imageId: info.Image,
    specHash: label(labels.specHash),
    attempt: Number(label(labels.attempt)),
    crashes: Number(label(labels.crashes)),
    createdAt,
    startedAt: time(info.State.StartedAt),
    // A container that could not be started has no end time of its own.
    finishedAt: state === 'exited' ? (time(info.State.FinishedAt) ?? createdAt) : undefined,
    exitCode: info.State.ExitCode,
    oomKilled: info.State.OOMKilled,
    error: info.State.Error,
    terminationMessageFile: label(labels.terminationMessage),
    gracePeriodSeconds: Number(label(labels.gracePeriod)),
    resources: resourcesFrom(info),
    ...(label(labels.allocation) && { allocation: label(labels.allocation) }),
    preStop: preStopIn(label(labels.preStop)),
    ...devicesIn(label(labels.devices)),
    stopTurn: label(labels.stopTurn) === '' ? undefined : Number(label(labels.stopTurn)),
  };
}

/** Returns no devices for a text that this agent did not write. */
function devicesIn(text: string): Pick<ContainerState, 'devices'> {
  try {
    return text === '' ? {} : { devices: JSON.parse(text) as NonNullable<ContainerState['devices']> };
  } catch {
    return {};
  }
}

/** Returns undefined for a text that this agent did not write: older agents let an image set the label. */
function preStopIn(text: string): PreStop | undefined {
  try {
    return text === '' ? undefined : (JSON.parse(text) as PreStop);
  } catch {
    return undefined;
  }
}

function runState(info: Docker.ContainerInspectInfo): RunState {
  if (info.State.Running) return 'running';
  // Docker leaves a container whose start failed as `created`, with the reason.
  if (info.State.Status === 'created') return info.State.Error === '' ? 'created' : 'exited';
  return 'exited';
}

/**
 * Returns milliseconds since the epoch; undefined for Go's zero time, which Docker writes where there is no
 * time.
 */
function time(text: string): number | undefined {
  return text.startsWith('0001-') ? undefined : Date.parse(text);
}
