/**
 * Finds the pods of a namespace that a new policy would reject. They continue to run; the writer of the
 * policy is warned. Pure, and in steps, because there may be very many pods.
 */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { controllerOf } from '../../apimachinery/meta.ts';
import type { Steps } from '../../apimachinery/steps.ts';
import { inShort, violationsOf } from './evaluate.ts';
import { type LevelVersion, written } from './levels.ts';

/** Maximum number of pods to check, as upstream. */
export const maxPods = 3000;

export interface NamespaceCheck {
  readonly namespace: string;
  /** Number of all existing pods. */
  readonly total: number;
  readonly pods: Iterable<Pod>;
  readonly enforce: LevelVersion;
  /** The minor version that `latest` stands for. */
  readonly latest: number;
  readonly isExempt: (pod: Pod) => boolean;
  /** Returns whether the time limit is reached. */
  readonly isOver: () => boolean;
}

/** Pods that violate the same rules: their number, and the first one by name. */
interface Alike {
  readonly name: string;
  readonly count: number;
}

/**
 * Returns the warnings: how many pods were checked if not all, whether there are violations, and of which
 * pods.
 */
export function* namespaceWarnings(check: NamespaceCheck): Steps<string[]> {
  const { namespace, enforce, latest } = check;
  const found = new Map<string, Alike>();
  const progress = { checked: 0, exempt: 0 };
  for (const pod of inOrder(check, progress)) {
    if (pod) {
      const violations = violationsOf(enforce, pod, latest);
      progress.checked++;
      if (violations.length > 0) note(found, inShort(violations), pod.metadata.name);
    }
    if (progress.checked === maxPods || check.isOver()) break;
    yield;
  }
  const warnings = uncheckedWarnings(progress.checked, check.total - progress.exempt);
  if (found.size === 0) return warnings;
  const quotedLevel = JSON.stringify(written(enforce));
  warnings.push(
    `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level ${quotedLevel}`,
  );
  return [...warnings, ...[...found].map(toWarning).sort()];
}

function uncheckedWarnings(checked: number, total: number): string[] {
  if (checked >= total) return [];
  const first = `first ${checked} of ${total} existing pods`;
  return [`new PodSecurity enforce level only checked against the ${first}`];
}

/**
 * Yields one pod of each controller first, since the other pods of the controller most likely have the same
 * violations. Yields undefined for a pod whose turn is later.
 */
function* inOrder(
  { pods, isExempt }: NamespaceCheck,
  progress: { exempt: number },
): Generator<Pod | undefined> {
  const seen = new Set<string>();
  const alike: Pod[] = [];
  for (const pod of pods) {
    const controller = controllerOf(pod)?.uid;
    if (isExempt(pod)) {
      progress.exempt++;
      yield undefined;
    } else if (controller !== undefined && seen.has(controller)) {
      alike.push(pod);
      yield undefined;
    } else {
      if (controller !== undefined) seen.add(controller);
      yield pod;
    }
  }
  yield* alike;
}

function note(found: Map<string, Alike>, what: string, name: string): void {
  const before = found.get(what);
  const first = before && before.name < name ? before.name : name;
  found.set(what, { name: first, count: (before?.count ?? 0) + 1 });
}

function toWarning([what, { name, count }]: [string, Alike]): string {
  const others = count === 2 ? ' (and 1 other pod)' : ` (and ${count - 1} other pods)`;
  return `${name}${count === 1 ? '' : others}: ${what}`;
}
