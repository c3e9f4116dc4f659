/** The order of the steps of an installation, with those that store its record. */
import { configDirectory, type InstallPlan, recordStep } from './install-plan.ts';
import type { Step } from './step.ts';

/**
 * Returns the steps of the plan, with the one that stores the record before everything that the record names,
 * so that an installation that was interrupted can be removed. Only the directory of the record is older.
 */
export function inSequence({ steps, installed }: InstallPlan): readonly Step[] {
  if (steps.length === 0) return [];
  const isFirst = (step: Step) => step.kind === 'make-directory' && step.path === configDirectory;
  const [first, rest] = [steps.filter(isFirst), steps.filter((step) => !isFirst(step))];
  return [...first, recordStep(installed), ...directoriesFirst(rest)];
}

/** Puts the directories before the files that are written to them. */
const directoriesFirst = (steps: readonly Step[]): readonly Step[] =>
  steps.toSorted((a, b) => Number(b.kind === 'make-directory') - Number(a.kind === 'make-directory'));

/**
 * Returns the steps that follow once the service has started, and its user has what a first start gives: an
 * installation that was killed before that counts as not started.
 */
export const afterStart = ({ steps, installed, digest }: InstallPlan): readonly Step[] =>
  steps.some(({ kind }) => kind === 'restart-service') ? [recordStep({ ...installed, started: digest })] : [];
