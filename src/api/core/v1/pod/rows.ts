/**
 * Conditions by which kubectl hides completed pods in some views (k8s.io/kubernetes printersinternal
 * podSuccessConditions).
 */
import type { RowCondition } from '../../../../apimachinery/resource-definition.ts';
import type { Pod } from '../types.gen.ts';

export function podRowConditions({ status }: Pod): readonly RowCondition[] | undefined {
  const phase = status?.phase;
  if (phase === 'Succeeded') return completed(phase, 'The pod has completed successfully.');
  return phase === 'Failed' ? completed(phase, 'The pod failed.') : undefined;
}

const completed = (reason: string, message: string): readonly RowCondition[] => [
  { type: 'Completed', status: 'True', reason, message },
];
