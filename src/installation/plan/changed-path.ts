/** Paths that the steps of an installation, or of its removal, change. Pure. */
import { servicePathOf } from './install-plan.ts';
import { runlevelLink } from './openrc-script.ts';
import type { Step } from './step.ts';

/**
 * Returns the path that a step creates, replaces or removes; undefined if it changes no file, or one that
 * only the programs which it runs can name.
 */
export function changedPath(step: Step): string | undefined {
  if ('path' in step) return step.path;
  if (step.kind !== 'enable-service' && step.kind !== 'remove-service') return undefined;
  // systemd makes its link in a directory beside the unit.
  return step.manager === 'openrc' ? runlevelLink : servicePathOf.systemd;
}
