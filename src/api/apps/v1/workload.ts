/**
 * Common parts of the kinds that keep pods running: a selector, a pod template and usually a desired number
 * of pods.
 */

import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause, invalidCause } from '../../../apimachinery/field-error.ts';
import { formatSelector, matches, selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { Column } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { none } from '../../columns.ts';
import { podNameWarnings } from '../../core/v1/pod/names.ts';
import { validatePodTemplate, validateRestarts } from '../../core/v1/pod/template-validation.ts';
import { templateWarnings } from '../../core/v1/pod/warnings.ts';
import type { PodTemplateSpec } from '../../core/v1/types.gen.ts';
import { validateLabelSelector } from '../../meta/v1/label-selector.ts';
import type { LabelSelector } from '../../meta/v1/types.gen.ts';

export interface Workload extends KubeObject {
  spec: { selector: LabelSelector; template: PodTemplateSpec };
}

/** A kind with a desired number of pods. */
interface Scaled extends KubeObject {
  spec: { replicas: number };
  status?: { replicas?: number | undefined; readyReplicas?: number | undefined } | undefined;
}

/** Returns the selector in the form of `?labelSelector=`. */
export const selectorText = (workload: Workload) =>
  formatSelector(selectorFromLabelSelector(workload.spec.selector));

/** Accessors of the scale subresource. */
export const podScale = {
  getReplicas: ({ spec }: Scaled) => spec.replicas,
  setReplicas: ({ spec }: Scaled, replicas: number) => {
    spec.replicas = replicas;
  },
  statusReplicas: ({ status }: Scaled) => status?.replicas ?? 0,
};

export const workloadScale = { ...podScale, selector: selectorText };

/** Columns for desired, current and ready pods, one for each number. */
export const podCountColumns: readonly Column<Scaled>[] = [
  {
    name: 'Desired',
    type: 'integer',
    description: 'The desired number of pods.',
    cell: ({ spec }) => spec.replicas,
  },
  {
    name: 'Current',
    type: 'integer',
    description: 'The current number of pods.',
    cell: ({ status }) => status?.replicas ?? 0,
  },
  {
    name: 'Ready',
    type: 'integer',
    description: 'The number of ready pods.',
    cell: ({ status }) => status?.readyReplicas ?? 0,
  },
];

/** Column for ready and desired pods in one text. */
export const readyPodsColumn: Column<Scaled> = {
  name: 'Ready',
  type: 'string',
  description: 'Ready pods, out of the desired number of pods.',
  cell: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas}`,
};

/** Returns the warnings of the template, and of pod names derived from the object's name. */
export const workloadWarnings = (workload: Workload, old: Workload | undefined): string[] => [
  ...podNameWarnings(workload, old),
  ...ownTemplateWarnings(workload, old),
];

/** Returns the warnings of the template only. */
export const ownTemplateWarnings = templateWarnings(({ spec }: Workload) => spec.template, 'spec.template');

export function validateWorkload({ kind, spec }: Workload): StatusCause[] {
  return [
    ...validateSelection(kind, spec),
    ...validatePodTemplate(spec.template, 'spec.template'),
    ...validateEndlessPods(kind, spec.template),
  ];
}

/** Rejects a change of the selector: existing pods would become orphans. */
export function validateSelectorUnchanged({ spec }: Workload, { spec: old }: Workload): StatusCause[] {
  if (deepEqual(spec.selector, old.selector)) return [];
  return [invalidCause('spec.selector', spec.selector, 'field is immutable')];
}

/**
 * Validates the selector. An empty one would adopt every pod; one that does not match its own template would
 * create pods endlessly.
 */
export function validateSelection(kind: string, { selector, template }: Workload['spec']): StatusCause[] {
  const causes = validateLabelSelector(selector, 'spec.selector');
  const parsed = selectorFromLabelSelector(selector);
  if (parsed.requirements.length === 0) {
    const why = `empty selector is invalid for ${kind.toLowerCase()}`;
    return [...causes, invalidCause('spec.selector', selector, why)];
  }
  if (matches(parsed, template.metadata.labels)) return causes;
  return [
    ...causes,
    invalidCause(
      'spec.template.metadata.labels',
      template.metadata.labels ?? {},
      '`selector` does not match template `labels`',
    ),
  ];
}

/**
 * Rejects pods that end by themselves, for a workload that replaces ended pods: it would replace them
 * forever.
 */
export const validateEndlessPods = (kind: string, template: PodTemplateSpec): StatusCause[] => [
  ...validateRestarts(template, 'spec.template'),
  ...noDeadline(kind, template),
];

function noDeadline(kind: string, { spec }: PodTemplateSpec): StatusCause[] {
  if (!('activeDeadlineSeconds' in spec) || typeof spec.activeDeadlineSeconds !== 'number') return [];
  const why = `activeDeadlineSeconds in ${kind} is not Supported`;
  return [forbiddenCause('spec.template.spec.activeDeadlineSeconds', why)];
}

interface WithTemplate extends KubeObject {
  spec: { template: PodTemplateSpec };
}

/** Columns for containers and images, only shown with `-o wide`. */
export const templateColumns: readonly Column<WithTemplate>[] = [
  {
    name: 'Containers',
    type: 'string',
    priority: 1,
    description: 'Names of the containers of the template.',
    cell: ({ spec }) => spec.template.spec.containers.map(({ name }) => name).join(','),
  },
  {
    name: 'Images',
    type: 'string',
    priority: 1,
    description: 'Images of the containers of the template.',
    cell: ({ spec }) => spec.template.spec.containers.map(({ image }) => image).join(','),
  },
];

/** Columns for containers, images and the selector. */
export const workloadColumns: readonly Column<Workload>[] = [
  ...templateColumns,
  {
    name: 'Selector',
    type: 'string',
    priority: 1,
    description: 'The label selector of its pods.',
    cell: (workload) => selectorText(workload) || none,
  },
];
