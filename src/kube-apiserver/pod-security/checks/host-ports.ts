import {
  type Check,
  containers,
  containersOf,
  namesWhere,
  type PolicyCheck,
  plural,
  sorted,
} from '../check.ts';

type AnyContainer = ReturnType<typeof containersOf>[number];
const hostPortsOf = ({ ports = [] }: AnyContainer) => ports.flatMap(({ hostPort }) => hostPort || []);

const check: Check = (pod) => {
  const bad = namesWhere(pod, (container) => hostPortsOf(container).length > 0);
  if (bad.length === 0) return undefined;
  const ports = sorted(containersOf(pod).flatMap(hostPortsOf).map(String));
  const [use, what] = [plural(bad.length, 'uses', 'use'), plural(ports.length, 'hostPort')];
  return { reason: 'hostPort', detail: `${containers(bad)} ${use} ${what} ${ports.join(', ')}` };
};

export const hostPorts: PolicyCheck = {
  id: 'hostPorts',
  level: 'baseline',
  versions: [{ since: 0, check }],
};
