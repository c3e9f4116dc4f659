/** The chain of causes of an object's state, and those of a whole cluster. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { textAt } from '../apimachinery/fields.ts';
import type { Steps } from '../apimachinery/steps.ts';
import { isClusterScoped, type KindKey, kindKeys, nameOf, type ObjectRef } from './kinds.ts';
import { type Finding, severities } from './rule.ts';
import type { RuleBook } from './rule-book.ts';
import { explainingOwners, refOf, type Snapshot } from './snapshot.ts';

export interface Step {
  readonly about: ObjectRef;
  /** Name of the rule. */
  readonly rule: string;
  readonly finding: Finding;
}

/** From the object itself to the first cause; empty if the object is in its desired state. */
export type Chain = readonly Step[];

/** Objects with the same first cause. */
export interface Problem {
  readonly chain: Chain;
  /** All objects with this cause; the chain begins with the first of them. */
  readonly subjects: readonly ObjectRef[];
}

export function explain(seen: Snapshot, subject: ObjectRef, book: RuleBook): Chain {
  return chainOf({ seen, book, visited: new Set() }, subject);
}

interface Walk {
  readonly seen: Snapshot;
  readonly book: RuleBook;
  readonly visited: Set<string>;
}

function chainOf(walk: Walk, about: ObjectRef): Chain {
  const { seen, book, visited } = walk;
  const id = idOf(about);
  const object = seen.get(about);
  if (!object || visited.has(id)) return [];
  visited.add(id);
  const found = book.find(about.key, object, seen);
  if (!found) return [];
  const step: Step = { about, ...found };
  return [step, ...restOf(walk, step.finding.because ?? [])];
}

/** Number of chains that end with waiting, after which none is looked for that ends with a fault. */
const maxWaiting = 50;

/** Returns the chain of the first cause with a fault, otherwise that of the first one that waits. */
function restOf(walk: Walk, causes: readonly ObjectRef[]): Chain {
  const waiting: Chain[] = [];
  for (const cause of causes) {
    const chain = chainOf(walk, cause);
    const last = chain.at(-1);
    if (last && last.finding.severity !== 'waiting') return chain;
    if (last && waiting.push(chain) === maxWaiting) break;
  }
  return waiting[0] ?? [];
}

const idOf = ({ key, namespace, name }: ObjectRef) => `${key}/${namespace}/${name}`;

/**
 * Yields after every object, and while the indexes are created, so that the caller can pause there. Returns
 * the problems of the cluster, or of one namespace and the objects without a namespace: the worst first, and
 * of equally bad ones those of most objects.
 */
export function* explainAll(seen: Snapshot, book: RuleBook, namespace?: string): Steps<readonly Problem[]> {
  yield* seen.prepare();
  const byCause = new Map<string, { readonly chain: Chain; readonly subjects: ObjectRef[] }>();
  for (const [key, object] of explained(seen, book, namespace)) {
    yield;
    const subject = refOf(key, object);
    const chain = explain(seen, subject, book);
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
 * Generates the objects that are explained by themselves: those of kinds with rules. An object with a
 * controller is explained as a cause of the state of its controller.
 */
function* explained(
  seen: Snapshot,
  book: RuleBook,
  namespace?: string,
): Generator<readonly [KindKey, JsonObject]> {
  for (const key of kindKeys.filter((one) => book.explains(one))) {
    for (const object of seen.list(key, isClusterScoped(key) ? undefined : namespace)) {
      if (!isPart(seen, key, object)) yield [key, object];
    }
  }
}

/** Number of owners that are followed from one object; a pod of a run of a workflow has fewer. */
const maxOwners = 20;

/**
 * Returns whether an object is explained through an owner: owners lead from it to an object without an owner.
 * Objects that own each other in a circle are explained by themselves.
 */
function isPart(seen: Snapshot, key: KindKey, object: JsonObject): boolean {
  const visited = new Set([object]);
  const waiting = existingOwners(seen, key, object);
  for (const [ownerKey, owner] of waiting) {
    if (visited.has(owner)) continue;
    if (visited.add(owner).size > maxOwners) return false;
    const above = existingOwners(seen, ownerKey, owner);
    if (above.length === 0) return true;
    waiting.push(...above);
  }
  return false;
}

/** Returns the owners that have the uid of their reference: a later object of the same name is no owner. */
const existingOwners = (seen: Snapshot, key: KindKey, object: JsonObject): [KindKey, JsonObject][] =>
  explainingOwners(key, object)
    .slice(0, maxOwners)
    .flatMap(({ ref, uid }): [KindKey, JsonObject][] => {
      const owner = ref && seen.get(ref);
      return owner && textAt(owner, 'metadata', 'uid') === uid ? [[ref.key, owner]] : [];
    });

const rank = ({ chain }: Problem) =>
  Math.min(...chain.map(({ finding }) => severities.indexOf(finding.severity)));

function worstFirst(a: Problem, b: Problem): number {
  return rank(a) - rank(b) || b.subjects.length - a.subjects.length || (titleOf(a) < titleOf(b) ? -1 : 1);
}

const titleOf = ({ subjects: [first] }: Problem) => (first ? `${first.namespace}/${nameOf(first)}` : '');
