/** Plans the addresses of a Service that nodes serve as its load balancer, and why it has none. Pure. */
import { excludedLabel } from '../../api/core/v1/node/labels.ts';
import type { Node } from '../../api/core/v1/node/node.ts';
import { servedFamilies } from '../../api/core/v1/service/external-addresses.ts';
import { isNodeLoadBalancer, nodePortText } from '../../api/core/v1/service/node-load-balancer.ts';
import type { Service } from '../../api/core/v1/service/service.ts';
import { findCondition, timedCondition, withoutCondition } from '../../apimachinery/conditions.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import type { Condition } from '../../apimachinery/schema.ts';
import { type AddressFamily, familyOf } from '../../base/address-families.ts';
import { canonicalAddress } from '../../base/addresses.ts';
import type { PoolProblem } from './address-pool-plan.ts';

/** Condition type. False if nodes do not serve the Service at their addresses; absent otherwise. */
export const loadBalancerServed = 'minik8s.io/LoadBalancerServed';

export interface BalancerFacts {
  readonly nodes: readonly Node[];
  /** Returns the Service that holds a port of all nodes: the oldest that requests it. */
  readonly holder: (port: string) => ObjectKey | undefined;
  /** Returns what else has a port of the nodes, such as `the API server`; undefined if nothing has. */
  readonly reservedFor: (port: number) => string | undefined;
  /** Returns whether a node has a ready endpoint of the Service. */
  readonly hasEndpoint: (node: string) => boolean;
}

interface Problem {
  readonly reason: 'AddressOfNoNode' | 'NoNode' | 'PortReserved' | 'PortTaken';
  readonly message: string;
}

/** Why a Service is not served, at addresses of nodes or of the pool. */
export type BalancerProblem = Problem | PoolProblem;

export interface BalancerStatusPlan {
  readonly status: NonNullable<Service['status']>;
  readonly changed: boolean;
  /** New or changed problem to report as an event. */
  readonly problem: BalancerProblem | undefined;
}

/** Result of a plan for the status of a Service. */
export interface BalancerOutcome {
  /** Addresses with their mode; undefined leaves those of another controller. */
  readonly ingress: NonNullable<Status['loadBalancer']['ingress']> | undefined;
  readonly problem: BalancerProblem | undefined;
}

/** Returns the addresses of nodes that serve the Service. */
export function planNodeBalancer(service: Service, facts: BalancerFacts): BalancerOutcome {
  if (!isNodeLoadBalancer(service)) return { ingress: undefined, problem: undefined };
  const { addresses, problem } = assigned(service, facts);
  return { ingress: addresses.map((ip) => ({ ip, ipMode: 'Proxy' as const })), problem };
}

/** Plans the status with an outcome. `now` is in RFC 3339. */
export function planBalancerStatus(
  { status = { loadBalancer: {} } }: Service,
  { ingress, problem }: BalancerOutcome,
  now: string,
): BalancerStatusPlan {
  const conditions: readonly Condition[] = status.conditions ?? [];
  const condition = problem && { type: loadBalancerServed, status: 'False' as const, ...problem };
  const others = withoutCondition(conditions, loadBalancerServed);
  const nextConditions = condition ? [...others, timedCondition(conditions, condition, now)] : others;
  const { conditions: _, ...rest } = status;
  const next: Status = {
    ...rest,
    ...(ingress && { loadBalancer: ingress.length === 0 ? {} : { ingress } }),
    ...(nextConditions.length > 0 && { conditions: [...nextConditions] }),
  };
  const isNew = findCondition(conditions, loadBalancerServed)?.message !== problem?.message;
  return { status: next, changed: !isSame(next, status), problem: isNew ? problem : undefined };
}

type Status = NonNullable<Service['status']>;

/** Compares what the plan writes; the API server adds `conditions: []` and other defaults. */
const isSame = (a: Status, b: Status): boolean =>
  deepEqual(a.conditions ?? [], b.conditions ?? []) &&
  deepEqual(
    (a.loadBalancer.ingress ?? []).map(({ ip, ipMode }) => [ip, ipMode]),
    (b.loadBalancer.ingress ?? []).map(({ ip, ipMode }) => [ip, ipMode]),
  );

interface Assigned {
  readonly addresses: readonly string[];
  readonly problem: Problem | undefined;
}

const none = (reason: Problem['reason'], message: string): Assigned => ({
  addresses: [],
  problem: { reason, message },
});

function assigned(service: Service, facts: BalancerFacts): Assigned {
  const problem = portProblem(service, facts);
  if (problem) return { addresses: [], problem };
  const { externalTrafficPolicy, loadBalancerIP: wanted } = service.spec;
  const serving = facts.nodes.filter(serves);
  const chosen = serving.filter(
    ({ metadata }) => externalTrafficPolicy !== 'Local' || facts.hasEndpoint(metadata.name),
  );
  const families = servedFamilies(service.spec);
  const addresses = families.flatMap((family) =>
    [...new Set(chosen.flatMap((node) => addressOf(node, family)))].sort(),
  );
  if (wanted) {
    const own = canonicalAddress(wanted);
    if (own !== undefined && addresses.includes(own)) return { addresses: [own], problem: undefined };
    return none('AddressOfNoNode', `spec.loadBalancerIP ${wanted} is the address of no node that serves it`);
  }
  if (addresses.length > 0) return { addresses, problem: undefined };
  if (serving.length === 0) return none('NoNode', 'there is no ready node to serve it');
  return chosen.length > 0
    ? none('NoNode', `no ready node that serves it has an address of ${families.join(' or ')}`)
    : none('NoNode', 'externalTrafficPolicy is Local, and no ready node has a ready pod of it');
}

function portProblem(service: Service, { holder, reservedFor }: BalancerFacts): Problem | undefined {
  for (const port of service.spec.ports ?? []) {
    const what = reservedFor(port.port);
    const name = `port ${port.port} (${port.protocol}) of the nodes`;
    if (what !== undefined) return { reason: 'PortReserved', message: `${name} belongs to ${what}` };
    const other = holder(nodePortText(port));
    if (other === undefined || other === objectKey(service)) continue;
    const [namespace] = other.split('/');
    const message = `${name} belongs to an older Service of the namespace ${namespace}`;
    return { reason: 'PortTaken', message };
  }
  return undefined;
}

/** Returns true for a ready node that load balancers do not leave out. */
export const serves = ({ metadata, status }: Node): boolean =>
  metadata.labels?.[excludedLabel] === undefined &&
  (status?.conditions ?? []).some(({ type, status: state }) => type === 'Ready' && state === 'True');

/** Returns the address of a family that the proxy of a node finds in the status; none without one. */
const addressOf = ({ status }: Node, family: AddressFamily): readonly string[] =>
  (status?.addresses ?? [])
    .flatMap(({ type, address }) => (type === 'InternalIP' && familyOf(address) === family ? [address] : []))
    .slice(0, 1);
