/** Converts between our types and the Docker API's. Pure: no call is made here. */
import type { Docker } from '../../docker/client.ts';
import type {
  ContainerConfig,
  ContainerState,
  Mount,
  PodReference,
  RunState,
  RuntimeObject,
  SandboxConfig,
  SandboxState,
} from './runtime.ts';

/** Kubernetes' own label names, so that cAdvisor and the like find their way. */
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
  terminationMessage: 'minik8s.io/termination-message',
  hostname: 'minik8s.io/hostname',
} as const;

/** Where a container finds the program that waits for its name: in the tmpfs every container has. */
const initTarget = '/dev/minik8s-init';

/** Enough for the agent's `logs`, bounded so that a chatty pod cannot fill the disk (Kubernetes' defaults). */
const logConfig = { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '5' } };

const podLabels = (pod: PodReference) => ({
  [labels.podName]: pod.name,
  [labels.podNamespace]: pod.namespace,
  [labels.podUid]: pod.uid,
});

/** dockershim's name, from which the pod is read back: `k8s_POD_<pod>_<namespace>_<uid>_<attempt>`. */
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
      // The process makes its own namespace and then gives up these rights (pause.c).
      NetworkMode: 'host',
      ...(inHostNetwork && { UTSMode: 'host' }),
      IpcMode: 'shareable',
      CapDrop: ['ALL'],
      CapAdd: ['SYS_ADMIN', 'SETUID', 'SETGID', 'SETPCAP'],
      // A filter is compiled anew for every container, which costs more than all that pause does: our own program,
      // which takes no input, ends up without any right and cannot gain one. Containers that join have their own.
      SecurityOpt: ['seccomp=unconfined'],
      OomScoreAdj: Math.max(-998, lowestOomScore),
      LogConfig: { Type: 'none', Config: {} },
    },
  };
}

export function containerOptions(
  config: ContainerConfig,
  { owner, initPath }: { readonly owner: string; readonly initPath: string },
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
    // Kubernetes runs no health check of an image.
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
      [labels.terminationMessage]: config.terminationMessageFile,
      ...(waits && { [labels.hostname]: config.hostname }),
    },
    HostConfig: {
      ...(config.runtime === undefined ? {} : { Runtime: config.runtime }),
      ...inShimOf(config.sandboxId),
      NetworkMode: `container:${config.sandboxId}`,
      IpcMode: config.hostIPC ? 'host' : `container:${config.sandboxId}`,
      ...pidMode(config),
      Mounts: mounts.map(bindMount),
      NanoCpus: resources.nanoCpus,
      CpuShares: resources.cpuShares,
      Memory: resources.memory,
      // Without this Docker allows as much swap again as memory; Kubernetes' limit is a limit.
      ...(resources.memory > 0 && { MemorySwap: resources.memory }),
      OomScoreAdj: Math.max(resources.oomScoreAdj, lowestOomScore),
      Privileged: config.privileged,
      ReadonlyRootfs: config.readOnlyRootFilesystem,
      CapAdd: [...config.addCapabilities],
      CapDrop: [...config.dropCapabilities],
      GroupAdd: config.groups.map(String),
      // Written into the sandbox's namespaces, each time one of its containers starts.
      Sysctls: { ...config.sysctls },
      SecurityOpt: securityOptions(config),
      LogConfig: logConfig,
    },
  };
}

/**
 * One shim of containerd for the whole pod, not one for each container. A container without the annotation, as the
 * sandbox is, has the group of its own id. Docker takes it from 24 on and ignores it before; dockerode's types lack it.
 */
const inShimOf = (id: string): object => ({ Annotations: { 'io.containerd.runc.v2.group': id } });

/**
 * No propagation, although dockerode's type wants one: a volume that has Docker's own directory in it needs another.
 */
const notBelow = { ReadOnlyNonRecursive: true } as unknown as Docker.MountSettings['BindOptions'];

/** What is mounted below a read-only volume stays writable, as in Kubernetes: from Docker 25 on that has to be said. */
function bindMount({ source, target, readOnly }: Mount): Docker.MountSettings {
  return {
    Type: 'bind',
    Source: source,
    Target: target,
    ReadOnly: readOnly,
    ...(readOnly && { BindOptions: notBelow }),
  };
}

function pidMode({ processes, sandboxId }: ContainerConfig): { PidMode?: string } {
  if (processes === 'own') return {};
  if (typeof processes === 'object') return { PidMode: `container:${processes.container}` };
  return { PidMode: processes === 'host' ? 'host' : `container:${sandboxId}` };
}

/** The engine's own profiles are what it uses where nothing is said. */
const securityOptions = ({ noNewPrivileges, seccomp, appArmor, seLinux }: ContainerConfig) => [
  ...(noNewPrivileges ? ['no-new-privileges'] : []),
  ...(seccomp === 'Unconfined' ? ['seccomp=unconfined'] : []),
  ...(appArmor === 'Unconfined' ? ['apparmor=unconfined'] : []),
  // Without SELinux on the machine they mean nothing, here as upstream.
  ...Object.entries(seLinux).map(([part, label]) => `label=${part}:${label}`),
];

/**
 * Which confinement that a container asks for the engine does not give: it would not say so. `offered` is what
 * `docker info` calls Security Options, such as `name=seccomp,profile=default`.
 */
export function missingConfinement(
  { seccomp, appArmor }: Pick<ContainerConfig, 'seccomp' | 'appArmor'>,
  offered: readonly string[],
): string | undefined {
  const has = (name: string) =>
    offered.some((option) => {
      const parts = option.split(',');
      return parts.includes(`name=${name}`) && !parts.includes('profile=unconfined');
    });
  if (seccomp === 'RuntimeDefault' && !has('seccomp')) return 'seccomp';
  return appArmor === 'RuntimeDefault' && !has('apparmor') ? 'AppArmor' : undefined;
}

/** Undefined for a container that is not ours. */
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
    // A container that could not be started has no end of its own.
    finishedAt: state === 'exited' ? (time(info.State.FinishedAt) ?? createdAt) : undefined,
    exitCode: info.State.ExitCode,
    oomKilled: info.State.OOMKilled,
    error: info.State.Error,
    terminationMessageFile: label(labels.terminationMessage),
    gracePeriodSeconds: Number(label(labels.gracePeriod)),
  };
}

function runState(info: Docker.ContainerInspectInfo): RunState {
  if (info.State.Running) return 'running';
  // Docker leaves a container whose start failed as `created`, with the reason.
  if (info.State.Status === 'created') return info.State.Error === '' ? 'created' : 'exited';
  return 'exited';
}

/** Docker writes Go's zero time where there is none. */
function time(text: string): number | undefined {
  return text.startsWith('0001-') ? undefined : Date.parse(text);
}
