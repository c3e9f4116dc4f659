/** Findings of `minik8s doctor`: the observation, why it matters, and the command that mends it. Pure. */

/** Severities from the best to the worst. */
export const severities = ['ok', 'note', 'warning', 'fault'] as const;
export type Severity = (typeof severities)[number];

/** A change that `--fix` makes: it takes nothing from the machine and interrupts nothing. */
export type Fix =
  | { readonly kind: 'sysctl'; readonly name: string; readonly value: string }
  | { readonly kind: 'module'; readonly name: string }
  | { readonly kind: 'mode'; readonly path: string; readonly mode: number };

/** Result of one check. */
export interface Observation {
  readonly severity: Severity;
  /** Text of the observation, with the value. */
  readonly found: string;
  /** One clause that says why it matters. */
  readonly why?: string;
  /** Command of a shell that mends it, to be run as root on the machine of the finding. */
  readonly mend?: string;
  readonly fix?: Fix;
}

export interface Finding extends Observation {
  /** Stable name of the check, such as `docker-cgroup-driver`. */
  readonly check: string;
  /** Node whose machine was examined; absent for this machine if it is no node of the cluster. */
  readonly node?: string;
}

/** A fact, or the reason why it is unknown. */
export type Fact<T> = { readonly value: T } | { readonly unknown: string };

/** One check of facts of the type T, in the situation S. */
export interface Check<T, S> {
  readonly name: string;
  readonly find: (facts: T, situation: S) => readonly Observation[];
}

export const ok = (found: string): Observation => ({ severity: 'ok', found });

export const note = (found: string, why?: string, mend?: string): Observation =>
  trouble('note', found, why, mend);

export const warning = (found: string, why: string, mend?: string, fix?: Fix): Observation =>
  trouble('warning', found, why, mend, fix);

export const fault = (found: string, why: string, mend?: string, fix?: Fix): Observation =>
  trouble('fault', found, why, mend, fix);

const trouble = (severity: Severity, found: string, why?: string, mend?: string, fix?: Fix): Observation => ({
  ...{ severity, found },
  ...(why !== undefined && { why }),
  ...(mend !== undefined && { mend }),
  ...(fix !== undefined && { fix }),
});

/** Returns the findings of a subject's checks; one note if its facts are unknown. */
export function findingsOf<T, S>(
  subject: string,
  checks: readonly Check<T, S>[],
  fact: Fact<T>,
  situation: S,
): readonly Finding[] {
  if ('unknown' in fact) return [{ check: subject, ...note(`not examined: ${fact.unknown}`) }];
  return checks.flatMap(({ name, find }) =>
    find(fact.value, situation).map((observation) => ({ check: name, ...observation })),
  );
}

/** Returns the worst severity; `ok` without findings. */
export const worstOf = (findings: readonly Finding[]): Severity =>
  severities.findLast((severity) => findings.some((finding) => finding.severity === severity)) ?? 'ok';

/** Returns the exit status: 0 without warnings and faults, 1 with warnings alone, 2 with a fault. */
export const exitStatusOf = (findings: readonly Finding[]): number =>
  ({ ok: 0, note: 0, warning: 1, fault: 2 })[worstOf(findings)];
