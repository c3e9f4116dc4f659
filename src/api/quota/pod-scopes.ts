/** The pods that a quota with scopes selects (upstream: podMatchesScopeFunc). Pure. */
import { isRecord } from '../../apimachinery/equality.ts';
import { qosClassOf } from '../core/v1/pod/qos.ts';
import type { Pod, PodSpec, ResourceQuota } from '../core/v1/types.gen.ts';

/** A requirement of a `scopeSelector`, or of a configuration. */
export interface Scope {
  readonly scopeName: string;
  /** One of In, NotIn, Exists or DoesNotExist. */
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Returns the scopes from both fields; a quota selects the objects that are in all of them. */
export const scopesOf = ({ spec }: Pick<ResourceQuota, 'spec'>): readonly Scope[] => [
  ...(spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
  ...(spec.scopeSelector?.matchExpressions ?? []),
];

export function isPodInScope(requirement: Scope, { spec }: Pod): boolean {
  switch (requirement.scopeName) {
    case 'Terminating':
      return ends(spec);
    case 'NotTerminating':
      return !ends(spec);
    case 'BestEffort':
      return qosClassOf(spec) === 'BestEffort';
    case 'NotBestEffort':
      return qosClassOf(spec) !== 'BestEffort';
    case 'PriorityClass':
      return isOfClass(requirement, spec.priorityClassName);
    case 'CrossNamespacePodAffinity':
      return looksElsewhere(spec);
    default:
      return false;
  }
}

/** Returns true if the pod ends by itself after some time. */
const ends = ({ activeDeadlineSeconds }: PodSpec) =>
  activeDeadlineSeconds !== undefined && activeDeadlineSeconds >= 0;

function isOfClass({ operator, values = [] }: Scope, name = ''): boolean {
  switch (operator) {
    case 'In':
      return name !== '' && values.includes(name);
    case 'NotIn':
      return name === '' || !values.includes(name);
    case 'Exists':
      return name !== '';
    default:
      return name === '';
  }
}

/** Returns true if the pod has an affinity or anti-affinity to pods of other namespaces. */
function looksElsewhere({ affinity }: PodSpec): boolean {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some((terms) => {
    const {
      requiredDuringSchedulingIgnoredDuringExecution: required = [],
      preferredDuringSchedulingIgnoredDuringExecution: preferred = [],
    } = terms ?? {};
    return [...required, ...preferred.map(({ podAffinityTerm }) => podAffinityTerm)].some(
      ({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || isRecord(namespaceSelector),
    );
  });
}
