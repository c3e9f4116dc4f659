/** Checks a pod against a level of Pod Security (upstream: k8s.io/pod-security-admission/policy). Pure. */
import type { Check, PodLike, VersionedCheck, Violation } from './check.ts';
import { allChecks } from './checks/all.ts';
import type { LevelVersion } from './levels.ts';

/** The newest version with rules of its own; later versions have the same rules. */
const newest = Math.max(...allChecks.flatMap(({ versions }) => versions.map(({ since }) => since)));

type Levels = Readonly<Record<'baseline' | 'restricted', readonly Check[]>>;

/** Checks by minor version. */
const checksSince0: readonly Levels[] = Array.from({ length: newest + 1 }, (_, minor) => checksAt(minor));

/**
 * Returns the violations; empty for the privileged level. `latest` is the minor version of the served API.
 */
export function violationsOf(
  { level, version }: LevelVersion,
  pod: PodLike,
  latest: number,
): readonly Violation[] {
  if (level === 'privileged') return [];
  const minor = Math.min(version === 'latest' ? latest : version, newest);
  const checks = checksSince0[minor]?.[level] ?? [];
  return checks.flatMap((check) => check(pod) ?? []);
}

function checksAt(minor: number): Levels {
  const current = allChecks
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .flatMap(({ id, level, versions }) => {
      const version = versions.findLast(({ since }) => since <= minor);
      return version ? [{ id, level, ...version }] : [];
    });
  const baseline = current.filter(({ level }) => level === 'baseline');
  const restricted = current.filter(({ level }) => level === 'restricted');
  const replaced = new Set(restricted.flatMap(({ replaces = [] }: VersionedCheck) => replaces));
  const kept = baseline.filter(({ id }) => !replaced.has(id));
  return {
    baseline: baseline.map(({ check }) => check),
    restricted: [...kept, ...restricted].map(({ check }) => check),
  };
}

/** Formats the violations of one pod. */
export const inDetail = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');

/** Formats violations that many pods have in common. */
export const inShort = (violations: readonly Violation[]): string =>
  violations.map(({ reason }) => reason).join(', ');
