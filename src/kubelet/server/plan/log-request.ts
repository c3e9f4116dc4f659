/** `/containerLogs` requests: the container, and the part of its log (pkg/kubelet/server, kubectl logs). */
import { findContainer } from '../../../api/core/v1/container/ephemeral-containers.ts';
import { initContainersOf } from '../../../api/core/v1/container/init-containers.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { booleanParameter } from '../../../apimachinery/list-options.ts';
import type { ObservedPod } from '../../runtime/observed-pod.ts';
import type { ContainerState, LogOptions } from '../../runtime/runtime.ts';

export class RequestError extends Error {
  override readonly name = 'RequestError';
  /** HTTP status of the response. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface LogQuery extends LogOptions {
  readonly previous: boolean;
  readonly limitBytes: number | undefined;
}

/** Throws RequestError (400) for an invalid value. */
export function parseLogQuery(query: URLSearchParams, now: number): LogQuery {
  const sinceSeconds = wholeNumber(query, 'sinceSeconds', 1);
  return {
    follow: flag(query, 'follow'),
    previous: flag(query, 'previous'),
    timestamps: flag(query, 'timestamps'),
    tailLines: wholeNumber(query, 'tailLines', 0),
    limitBytes: wholeNumber(query, 'limitBytes', 1),
    since: sinceSeconds === undefined ? instant(query, 'sinceTime') : now - sinceSeconds * 1000,
  };
}

/** Returns the container to read; throws RequestError in Kubernetes' words when there is none to read yet. */
export function logTarget(pod: Pod, observed: ObservedPod, name: string, previous: boolean): ContainerState {
  const podName = pod.metadata.name;
  if (!findContainer(pod.spec, name)) {
    throw new RequestError(400, `container ${name} is not valid for pod ${podName}`);
  }
  const [newest, ...older] = observed.containers
    .filter((container) => container.name === name && container.state !== 'created')
    .toSorted((a, b) => b.attempt - a.attempt);
  if (previous) {
    // While a container waits for its restart, the one that ended last is already the previous one.
    const status = statusOf(pod, name);
    const dead = newest?.state === 'exited' && status?.state?.waiting ? newest : older[0];
    if (dead) return dead;
    throw new RequestError(400, `previous terminated container "${name}" in pod "${podName}" not found`);
  }
  if (newest) return newest;
  const unreported = initContainersOf(pod.spec).length > 0 ? 'PodInitializing' : 'ContainerCreating';
  const reason = statusOf(pod, name)?.state?.waiting?.reason ?? unreported;
  throw notStarted(podName, name, reason);
}

const statusOf = ({ status = {} }: Pod, name: string) =>
  [
    ...(status.initContainerStatuses ?? []),
    ...(status.containerStatuses ?? []),
    ...(status.ephemeralContainerStatuses ?? []),
  ].find((one) => one.name === name);

const notStarted = (pod: string, name: string, reason: string) =>
  new RequestError(400, `container "${name}" in pod "${pod}" is waiting to start: ${reason}`);

const flag = (query: URLSearchParams, name: string) => booleanParameter(query, name) ?? false;

function wholeNumber(query: URLSearchParams, name: string, least: number): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < least) {
    throw new RequestError(
      400,
      `${name}: ${JSON.stringify(text)} is not a whole number of at least ${least}`,
    );
  }
  return value;
}

function instant(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const value = Date.parse(text);
  if (Number.isNaN(value))
    throw new RequestError(400, `${name}: ${JSON.stringify(text)} is not a time; write RFC 3339`);
  return value;
}
