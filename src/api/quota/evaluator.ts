/** What a quota counts of a kind, and how much one object of it is (upstream: pkg/quota/v1/evaluator). Pure. */
import type { Amounts } from '../../apimachinery/amounts.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { claimEvaluator } from './claim-evaluator.ts';
import { one, plainEvaluator } from './plain-evaluator.ts';
import { podEvaluator } from './pod-evaluator.ts';
import type { Scope } from './pod-scopes.ts';
import { serviceEvaluator } from './service-evaluator.ts';

export interface Evaluator {
  /** Whether a quota's amount of that name counts objects of this kind. */
  counts(name: string): boolean;
  /** Whether a write of this sort may use more than there was used. */
  handles(operation: 'create' | 'update', subresource: string): boolean;
  /** What the object lacks to be counted under these names, in words; undefined when nothing. */
  missing(names: readonly string[], object: KubeObject): string | undefined;
  isInScope(requirement: Scope, object: KubeObject): boolean;
  /** What the object uses; `now` in milliseconds. */
  usage(object: KubeObject, now: number): Amounts;
  /** Milliseconds after which the object, unchanged, uses less; undefined for never. */
  endsIn(object: KubeObject, now: number): number | undefined;
}

interface KindName {
  readonly group: string;
  readonly plural: string;
}

/** `count/pods`, `count/deployments.apps`: every kind can be counted so. */
export const countName = ({ group, plural }: KindName) => `count/${plural}${group && `.${group}`}`;

/** Without a group, and counted under their own names too. */
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

/** Undefined for kinds that no quota counts: events come and go too often. */
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
