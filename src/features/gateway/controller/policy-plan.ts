/** The status of a BackendTLSPolicy, with an entry for each Gateway that uses one of its targets. Pure. */
import type { Service } from '../../../api/core/v1/service/service.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import type { Attachment } from '../api/attachments.ts';
import { type Authorities, type BackendTlsPolicies, serviceTargets } from '../api/backend-tls.ts';
import { type BackendFacts, backendRefs, serviceOfRef } from '../api/backends.ts';
import { byAge, controllerName } from '../api/classes.ts';
import { type BackendTlsPolicy, type Gateway, gatewayGroup, type PolicyStatus } from '../api/kinds.ts';
import type { ListenerProblem } from '../api/listeners.ts';
import { unservedReason } from '../api/policy-problem.ts';
import { timedConditions, type Verdict, verdicts } from './gateway-plan.ts';

export interface PolicyFacts {
  readonly policies: BackendTlsPolicies;
  readonly authorities: Authorities;
  /** Gateways by the Services, as NAMESPACE/NAME, to which their routes lead. */
  readonly gatewaysOf: ReadonlyMap<string, ReadonlySet<Gateway>>;
  readonly serviceOf: (namespace: string, name: string) => Service | undefined;
  /** Current time in RFC 3339. */
  readonly now: string;
}

/** The schema allows no more entries. */
const maxAncestors = 16;

/** Returns the Gateways whose routes lead to each Service, as NAMESPACE/NAME. */
export function gatewaysOfServices(
  attachments: readonly Attachment[],
  facts: Pick<BackendFacts, 'grants' | 'serviceOf'>,
): ReadonlyMap<string, ReadonlySet<Gateway>> {
  const found = new Map<string, Set<Gateway>>();
  for (const { route, listeners } of attachments)
    for (const ref of backendRefs(route)) {
      const service = serviceOfRef(route, ref, facts);
      if (!service) continue;
      const key = `${service.metadata.namespace}/${service.metadata.name}`;
      const known = found.get(key) ?? new Set();
      found.set(key, known);
      for (const { gateway } of listeners) known.add(gateway);
    }
  return found;
}

/** Returns the new status; undefined if it is as it should be. Entries of other controllers are kept. */
export function planPolicy(policy: BackendTlsPolicy, facts: PolicyFacts): PolicyStatus | undefined {
  const before = policy.status?.ancestors ?? [];
  const others = before.filter((one) => one.controllerName !== controllerName);
  const conditions = [accepted(policy, facts), resolved(facts.authorities)];
  const times = { generation: policy.metadata.generation, now: facts.now };
  const own = ancestorsOf(policy, facts).map((gateway) => {
    const ancestorRef = refTo(gateway);
    const known = before.find(
      (one) => one.controllerName === controllerName && deepEqual(one.ancestorRef, ancestorRef),
    );
    return { ancestorRef, controllerName, conditions: timedConditions(conditions, known?.conditions, times) };
  });
  const ancestors = [...others, ...own].slice(0, maxAncestors);
  return deepEqual(ancestors, before) ? undefined : { ancestors };
}

function ancestorsOf(policy: BackendTlsPolicy, { gatewaysOf }: PolicyFacts): readonly Gateway[] {
  const all = serviceTargets(policy).flatMap(({ name }) => [
    ...(gatewaysOf.get(`${policy.metadata.namespace}/${name}`) ?? []),
  ]);
  return [...new Set(all)].sort(byAge);
}

const refTo = ({ metadata }: Gateway) => ({
  ...{ group: gatewayGroup, kind: 'Gateway', name: metadata.name },
  ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
});

function accepted(policy: BackendTlsPolicy, facts: PolicyFacts): Verdict {
  const problem = unservedReason(policy, facts.authorities) ?? targetProblem(policy, facts);
  return problem
    ? verdicts.no('Accepted', problem.reason, problem.message.slice(0, 1024))
    : verdicts.yes('Accepted', 'Accepted', 'Gateways connect to the targets by TLS');
}

/** The policy holds for its other targets all the same. */
function targetProblem(
  policy: BackendTlsPolicy,
  { policies, serviceOf }: PolicyFacts,
): ListenerProblem | undefined {
  for (const target of serviceTargets(policy)) {
    const { name, sectionName } = target;
    const what = sectionName ? `port ${sectionName} of Service ${name}` : `Service ${name}`;
    const older = policies.olderOf(policy, target);
    if (older)
      return {
        reason: 'Conflicted',
        message: `${what} has the older BackendTLSPolicy ${older.metadata.name}, which is used; delete one of the two`,
      };
    const service = serviceOf(policy.metadata.namespace ?? '', name);
    const hasPort = !sectionName || service?.spec.ports?.some((port) => port.name === sectionName);
    if (!service || !hasPort) return { reason: 'TargetNotFound', message: `${what} does not exist` };
  }
  return undefined;
}

const resolved = ({ unresolved }: Authorities): Verdict =>
  unresolved
    ? verdicts.no('ResolvedRefs', unresolved.reason, unresolved.message.slice(0, 1024))
    : verdicts.yes('ResolvedRefs', 'ResolvedRefs', 'all authorities are resolved');
