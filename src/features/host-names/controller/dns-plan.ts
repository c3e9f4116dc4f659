/** Plans the status of a Dns from the Services of its paths and the nodes that serve it. Pure. */
import type { Node } from '../../../api/core/v1/node/node.ts';
import type { Service } from '../../../api/core/v1/service/service.ts';
import { findCondition, transitionTime } from '../../../apimachinery/conditions.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import type { Condition } from '../../../apimachinery/schema.ts';
import type { Dns } from '../api/dns.ts';
import { maxPathsOfNamespace } from '../api/dns-limit.ts';
import { notServed } from '../api/dns-served.ts';
import { dnsTarget, isOwnName } from '../api/dns-target.ts';

export interface DnsStatusPlan {
  readonly status: NonNullable<Dns['status']>;
  readonly changed: boolean;
  /** New or changed problem to report as an event. */
  readonly problem: { readonly reason: string; readonly message: string } | undefined;
}

export interface DnsFacts {
  /** Returns the Service of that name in the namespace. */
  readonly serviceOf: (name: string) => Service | undefined;
  readonly clusterDomain: string;
  /** Namespace to which the host belongs. */
  readonly holder: string;
  /** True if the object is within the limit of its namespace, so that it is served. */
  readonly isWithinLimit: boolean;
  readonly nodes: readonly Node[];
  /** Current time in RFC 3339. */
  readonly now: string;
}

interface Problem {
  readonly reason: string;
  readonly message: string;
}

function problemsOf(dns: Dns, facts: DnsFacts): readonly Problem[] {
  const { serviceOf, clusterDomain, holder, isWithinLimit, nodes } = facts;
  const { host } = dns.spec;
  const refused = {
    reason: 'HostNotAllowed',
    message: `host ${host} does not resolve: names in ${clusterDomain} are reserved for the cluster`,
  };
  const taken = {
    reason: 'HostTaken',
    message: `host ${host} is not served for this object: it belongs to the namespace ${holder}, which has the oldest Dns for it`,
  };
  const excess = {
    reason: 'TooManyPaths',
    message: `the namespace has more than ${maxPathsOfNamespace} paths of Dns objects: only the oldest are served`,
  };
  const missing = dns.spec.paths.flatMap((path) => {
    const target = dnsTarget(path, serviceOf(path.serviceName));
    return 'reason' in target ? [target] : [];
  });
  const unserved = notServed(nodes);
  return [
    ...(isOwnName(host, clusterDomain) ? [refused] : []),
    ...(holder === dns.metadata.namespace ? [] : [taken]),
    ...(isWithinLimit ? [] : [excess]),
    ...missing,
    ...(unserved ? [unserved] : []),
  ];
}

export function planDnsStatus(dns: Dns, facts: DnsFacts): DnsStatusPlan {
  const { now } = facts;
  const problems = problemsOf(dns, facts);
  const [first] = problems;
  const result = first
    ? { reason: first.reason, message: problems.map(({ message }) => message).join('; ') }
    : { reason: 'Routed', message: 'every path leads to a Service, and every node serves it' };
  const current = findCondition(dns.status?.conditions, 'Ready');
  const status = first ? 'False' : 'True';
  const condition: Condition = {
    type: 'Ready',
    status,
    ...result,
    lastTransitionTime: transitionTime(current, status, now),
  };
  const others = (dns.status?.conditions ?? []).filter(({ type }) => type !== 'Ready');
  const next = {
    observedGeneration: dns.metadata.generation,
    conditions: [...others, condition],
  };
  const unchanged = current?.status === status && current.message === result.message;
  // A node that has not started serving yet is not reported as a warning.
  const isProblem = first && first.reason !== 'NotServedYet';
  return {
    status: next,
    changed: !deepEqual(next, dns.status),
    problem: isProblem && !unchanged ? result : undefined,
  };
}
