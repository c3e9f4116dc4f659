/** The chain of causes of an object's state, and those of a whole cluster. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import type { Steps } from '../apimachinery/steps.ts';
import { isClusterScoped, type KindKey, kindKeys, nameOf, type ObjectRef } from './kinds.ts';
import { type Finding, type Rule, severities } from './rule.ts';
import { rules } from './rules/index.ts';
import { controllerOf, refOf, type Snapshot } from './snapshot.ts';

export interface Step {
  readonly about: ObjectRef;
  /** Name of the rule. */
  readonly rule: string;
  readonly finding: Finding;
}

/** From the object itself to the first cause; empty if the object is as wished. */
export type Chain = readonly Step[];

/** Objects that have one first cause. */
export interface Problem {
  readonly chain: Chain;
  /** All objects with this cause, the first of which the chain begins with. */
  readonly subjects: readonly ObjectRef[];
}

const rulesByKind: ReadonlyMap<KindKey, readonly (readonly [string, Rule])[]> = new Map(
  kindKeys.map((key) => [key, Object.entries(rules).filter(([, rule]) => rule.kinds.includes(key))]),
);

export function explain(seen: Snapshot, subject: ObjectRef): Chain {
  return chainOf(seen, subject, new Set());
}

function chainOf(seen: Snapshot, about: ObjectRef, visited: Set<string>): Chain {
  const id = idOf(about);
  const object = seen.get(about);
  if (!object || visited.has(id)) return [];
  visited.add(id);
  const step = stepOf(seen, about, object);
  if (!step) return [];
  for (const cause of step.finding.because ?? []) {
    const rest = chainOf(seen, cause, visited);
    if (rest.length > 0) return [step, ...rest];
  }
  return [step];
}

function stepOf(seen: Snapshot, about: ObjectRef, object: JsonObject): Step | undefined {
  for (const [rule, { find }] of rulesByKind.get(about.key) ?? []) {
    const finding = find(object, seen);
    if (finding) return { about, rule, finding };
  }
  return undefined;
}

const idOf = ({ key, namespace, name }: ObjectRef) => `${key}/${namespace}/${name}`;

/** Kinds whose objects are explained by themselves; the others only as causes. */
const isExplained = (key: KindKey) => key !== 'events' && (rulesByKind.get(key)?.length ?? 0) > 0;

/**
 * Yields after every object, so that the caller can rest between them, and returns the problems of the
 * cluster, or of one namespace and the objects of the cluster: the worst first, then those of most objects.
 */
export function* explainAll(seen: Snapshot, namespace?: string): Steps<readonly Problem[]> {
  const byCause = new Map<string, { readonly chain: Chain; readonly subjects: ObjectRef[] }>();
  for (const [key, object] of explained(seen, namespace)) {
    yield;
    const subject = refOf(key, object);
    const chain = explain(seen, subject);
    const first = chain.at(-1);
    if (!first) continue;
    const id = `${first.rule} ${idOf(first.about)}`;
    const problem = byCause.get(id);
    if (problem) problem.subjects.push(subject);
    else byCause.set(id, { chain, subjects: [subject] });
  }
  return [...byCause.values()].sort(worstFirst);
}

/**
 * Generates the objects that are explained by themselves. An object with a controller is explained as a cause
 * of the state of its controller.
 */
function* explained(seen: Snapshot, namespace?: string): Generator<readonly [KindKey, JsonObject]> {
  for (const key of kindKeys.filter(isExplained)) {
    for (const object of seen.list(key, isClusterScoped(key) ? undefined : namespace)) {
      const owner = controllerOf(object)?.ref;
      if (!owner || !seen.get(owner)) yield [key, object];
    }
  }
}

const rank = ({ chain }: Problem) =>
  Math.min(...chain.map(({ finding }) => severities.indexOf(finding.severity)));

function worstFirst(a: Problem, b: Problem): number {
  return rank(a) - rank(b) || b.subjects.length - a.subjects.length || (titleOf(a) < titleOf(b) ? -1 : 1);
}

const titleOf = ({ subjects: [first] }: Problem) => (first ? `${first.namespace}/${nameOf(first)}` : '');
