/**
 * The usage of a kind that a quota counts, and the amount of a single object (upstream:
 * pkg/quota/v1/evaluator). Pure.
 */
import type { Amounts } from '../../apimachinery/amounts.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { claimEvaluator } from './claim-evaluator.ts';
import { one, plainEvaluator } from './plain-evaluator.ts';
import { podEvaluator } from './pod-evaluator.ts';
import type { Scope } from './pod-scopes.ts';
import { serviceEvaluator } from './service-evaluator.ts';

export interface Evaluator {
  /** Returns true if a quota's resource of that name counts objects of this kind. */
  counts(name: string): boolean;
  /** Returns true if such a write may increase the usage. */
  handles(operation: 'create' | 'update', subresource: string): boolean;
  /**
   * Returns the fields that the object lacks for being counted under these names, as text; undefined for
   * none.
   */
  missing(names: readonly string[], object: KubeObject): string | undefined;
  isInScope(requirement: Scope, object: KubeObject): boolean;
  /** Returns the object's usage; `now` is in milliseconds. */
  usage(object: KubeObject, now: number): Amounts;
  /** Returns the milliseconds after which the unchanged object uses less; undefined for never. */
  endsIn(object: KubeObject, now: number): number | undefined;
}

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
