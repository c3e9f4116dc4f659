/** Reads the state of containers and sandboxes from what the Docker API reports about them. Pure. */
import type { Docker } from '../../docker/client.ts';
import type { ContainerResources, PreStop } from './container-config.ts';
import { cpuPeriodUs } from './docker-config.ts';
import { labels } from './docker-labels.ts';
import { parseSandboxName } from './docker-sandbox-config.ts';
import type { ContainerState, RunState, RuntimeObject, SandboxState } from './runtime.ts';

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

function resourcesFrom({ HostConfig }: Docker.ContainerInspectInfo): ContainerResources {
  const { NanoCpus = 0, CpuPeriod, CpuQuota = 0, CpuShares = 0, Memory = 0, OomScoreAdj = 0 } = HostConfig;
  const nanoCpus = CpuQuota > 0 ? Math.round((CpuQuota * 1e9) / (CpuPeriod || cpuPeriodUs)) : NanoCpus;
  return { nanoCpus, cpuShares: CpuShares, memory: Memory, oomScoreAdj: OomScoreAdj };
}
