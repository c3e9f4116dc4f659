/** Columns of `kubectl get` for Jobs and CronJobs. */
import { ageSince, humanDuration } from '../../../apimachinery/age.ts';
import { formatSelector, selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import { isTerminating, type KubeObject } from '../../../apimachinery/meta.ts';
import type { Column } from '../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn, none } from '../../columns.ts';
import { hasCondition } from './job-conditions.ts';
import type { Job, JobSpec } from './types.gen.ts';

export const jobColumns: readonly Column<Job>[] = [
  nameColumn,
  {
    name: 'Status',
    type: 'string',
    description: 'The phase of the Job.',
    cell: (job) => {
      if (hasCondition(job, 'Complete')) return 'Complete';
      if (hasCondition(job, 'Failed')) return 'Failed';
      if (isTerminating(job)) return 'Terminating';
      if (hasCondition(job, 'Suspended')) return 'Suspended';
      return hasCondition(job, 'FailureTarget') ? 'FailureTarget' : 'Running';
    },
  },
  {
    name: 'Completions',
    type: 'string',
    description: 'Succeeded pods, out of the required number.',
    cell: ({ spec: { completions, parallelism = 0 }, status }) => {
      const succeeded = status?.succeeded ?? 0;
      if (completions !== undefined) return `${succeeded}/${completions}`;
      return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
    },
  },
  {
    name: 'Duration',
    type: 'string',
    description: 'Duration of the run until now or until its end.',
    cell: ({ status }, now) => {
      if (!status?.startTime) return '';
      if (!status.completionTime) return ageSince(status.startTime, now);
      return humanDuration(Date.parse(status.completionTime) - Date.parse(status.startTime));
    },
  },
  ageColumn,
  ...jobTemplateColumns<Job>(({ spec }) => spec),
];

/** Columns that are only shown with `-o wide`. */
export function jobTemplateColumns<T extends KubeObject>(
  specOf: (object: T) => JobSpec,
): readonly Column<T>[] {
  const containers = (object: T) => specOf(object).template.spec.containers;
  return [
    {
      name: 'Containers',
      type: 'string',
      priority: 1,
      description: 'Names of the containers of the template.',
      cell: (object) =>
        containers(object)
          .map(({ name }) => name)
          .join(','),
    },
    {
      name: 'Images',
      type: 'string',
      priority: 1,
      description: 'Images of the containers of the template.',
      cell: (object) =>
        containers(object)
          .map(({ image }) => image)
          .join(','),
    },
    {
      name: 'Selector',
      type: 'string',
      priority: 1,
      description: 'The label selector of its pods.',
      cell: (object) => {
        const { selector } = specOf(object);
        return (selector && formatSelector(selectorFromLabelSelector(selector))) || none;
      },
    },
  ];
}
