/**
 * Faults of users that a real node makes, each in a namespace of its own, and words that the first cause must
 * contain. This list was written from the words of users before the rules of `why` were read.
 */
import type { MadeFault } from './made-faults/made-fault.ts';
import { programs } from './made-faults/programs.ts';
import { services } from './made-faults/services.ts';
import { starting } from './made-faults/starting.ts';
import { unschedulable } from './made-faults/unschedulable.ts';
import { workloads } from './made-faults/workloads.ts';

export const madeFaults: readonly MadeFault[] = [
  ...unschedulable,
  ...starting,
  ...programs,
  ...workloads,
  ...services,
];

/** Labels of the namespace of a fault. */
export const labelsOf = ({ mistake }: MadeFault): Readonly<Record<string, string>> =>
  mistake.startsWith('a policy') ? { 'pod-security.kubernetes.io/enforce': 'baseline' } : {};
