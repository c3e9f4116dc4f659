import {
  type Check,
  containers,
  containersOf,
  namesWhere,
  type PolicyCheck,
  plural,
  quoted,
  sorted,
} from '../check.ts';

type AnyContainer = ReturnType<typeof containersOf>[number];

/** Returns the hosts that the probes and hooks of a container name, which the kubelet would connect to. */
const hostsOf = (container: AnyContainer): string[] => {
  const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  const handlers = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop];
  return handlers
    .flatMap((handler) => [handler?.httpGet?.host, handler?.tcpSocket?.host])
    .flatMap((host) => host || []);
};

const check: Check = (pod) => {
  const bad = sorted(namesWhere(pod, (container) => hostsOf(container).length > 0));
  if (bad.length === 0) return undefined;
  const hosts = sorted(containersOf(pod).flatMap(hostsOf));
  const what = 'probe or lifecycle host';
  const [use, which] = [plural(bad.length, 'uses', 'use'), plural(hosts.length, what)];
  return { reason: what, detail: `${containers(bad)} ${use} ${which} ${quoted(hosts)}` };
};

export const hostProbesAndHostLifecycle: PolicyCheck = {
  id: 'hostProbesAndHostLifecycle',
  level: 'baseline',
  versions: [{ since: 34, check }],
};
