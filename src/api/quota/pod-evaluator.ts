/** Quota of pods and their resources (upstream: podEvaluator). Pure. */
import { type Amounts, addTo, readAmounts } from '../../apimachinery/amounts.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { Quantity } from '../../apimachinery/quantity.ts';
import { isExtended } from '../core/v1/container/resource-names.ts';
import { podLimitAmounts, podRequestAmounts } from '../core/v1/pod/amounts.ts';
import { isPodTerminal } from '../core/v1/pod/conditions.ts';
import type { Container, Pod } from '../core/v1/types.gen.ts';
import type { Evaluator } from './evaluator.ts';
import { one } from './plain-evaluator.ts';
import { isPodInScope } from './pod-scopes.ts';

const count = 'count/pods';
const computed = ['cpu', 'memory', 'ephemeral-storage'];
const names: ReadonlySet<string> = new Set([
  ...[count, 'pods'],
  ...computed.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);

/** Resources that every container must specify. */
const mustBeSpecified = /^(?:(?:requests\.|limits\.)?(?:cpu|memory))$/;

export const podEvaluator: Evaluator = {
  counts: (name) =>
    names.has(name) ||
    name.startsWith('hugepages-') ||
    name.startsWith('requests.hugepages-') ||
    (name.startsWith('requests.') && isExtended(name)),
  handles: (operation, subresource) =>
    operation === 'create' ? subresource === '' : subresource === 'resize',
  missing: (required, object) => {
    const { spec } = object as KubeObject & Pod;
    const wanted = required.filter((name) => mustBeSpecified.test(name)).sort();
    const lacks = wanted.flatMap((name) => {
      const containers = [...spec.containers, ...(spec.initContainers ?? [])].filter(
        (container) => !ofContainer(container).has(name),
      );
      const called = [...new Set(containers.map((container) => container.name))].sort();
      return called.length > 0 ? [`${name} for: ${called.join(',')}`] : [];
    });
    return lacks.length > 0 ? `must specify ${lacks.join('; ')}` : undefined;
  },
  isInScope: (requirement, object) => isPodInScope(requirement, object as KubeObject & Pod),
  usage: (object, now) => {
    const pod = object as KubeObject & Pod;
    const usage = new Map<string, Quantity>([[count, one]]);
    if (!isPodTerminal(pod) && endsIn(pod, now) !== 0)
      addTo(usage, named(podRequestAmounts(pod.spec), podLimitAmounts(pod.spec)));
    return usage;
  },
  endsIn: (object, now) => {
    const left = endsIn(object as KubeObject & Pod, now);
    return left === 0 ? undefined : left;
  },
};

const ofContainer = ({ resources }: Container): Amounts =>
  named(readAmounts(resources?.requests), readAmounts(resources?.limits));

/** Returns the amounts under the names that quotas use. */
function named(requests: Amounts, limits: Amounts): Map<string, Quantity> {
  const amounts = new Map<string, Quantity>([['pods', one]]);
  for (const [name, request] of requests) {
    const isComputed = computed.includes(name) || name.startsWith('hugepages-');
    if (isComputed) amounts.set(name, request);
    if (isComputed || isExtended(name)) amounts.set(`requests.${name}`, request);
  }
  for (const name of computed) {
    const limit = limits.get(name);
    if (limit) amounts.set(`limits.${name}`, limit);
  }
  return amounts;
}

/**
 * Returns the milliseconds until a pod that is being deleted is no longer counted, even if its agent does not
 * respond: a lost node must not hold the quota of a namespace. 0 if the time has passed, undefined for a pod
 * that is not being deleted.
 */
function endsIn({ metadata }: Pod, now: number): number | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (!deletionTimestamp || deletionGracePeriodSeconds === undefined) return undefined;
  const end = Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
  return Number.isNaN(end) ? 0 : Math.max(0, end + 1 - now);
}
