/** Evaluators by kind. Pure. */
import { claimEvaluator } from './claim-evaluator.ts';
import type { Evaluator } from './evaluator.ts';
import { one, plainEvaluator } from './plain-evaluator.ts';
import { podEvaluator } from './pod-evaluator.ts';
import { serviceEvaluator } from './service-evaluator.ts';

interface KindName {
  readonly group: string;
  readonly plural: string;
}

/**
 * Returns the name of a count, such as `count/pods` or `count/deployments.apps`; it exists for every kind.
 */
export const countName = ({ group, plural }: KindName) => `count/${plural}${group && `.${group}`}`;

/** Core kinds that are also counted under their plural names. */
const withShortName: ReadonlySet<string> = new Set([
  'configmaps',
  'resourcequotas',
  'replicationcontrollers',
  'secrets',
]);

const special: Readonly<Record<string, Evaluator>> = {
  pods: podEvaluator,
  services: serviceEvaluator,
  persistentvolumeclaims: claimEvaluator,
};

/** Returns undefined for kinds that quotas do not count: events are created and removed too often. */
export function evaluatorOf(kind: KindName): Evaluator | undefined {
  if (kind.plural === 'events' && (kind.group === '' || kind.group === 'events.k8s.io')) return undefined;
  return (kind.group === '' ? special[kind.plural] : undefined) ?? objectCounter(kind);
}

function objectCounter(kind: KindName): Evaluator {
  const count = countName(kind);
  const names = kind.group === '' && withShortName.has(kind.plural) ? [count, kind.plural] : [count];
  const usage = new Map(names.map((name) => [name, one]));
  return {
    ...plainEvaluator,
    counts: (name) => usage.has(name),
    handles: (operation, subresource) => operation === 'create' && subresource === '',
    usage: () => usage,
  };
}
