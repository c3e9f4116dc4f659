/** What the kinds that keep pods running share: a selector, a template of pods and mostly a wanted number of them. */

import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause, invalidCause } from '../../../apimachinery/field-error.ts';
import { formatSelector, matches, selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { Column } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { none } from '../../columns.ts';
import { podNameWarnings } from '../../core/v1/pod-names.ts';
import { validatePodTemplate, validateRestarts } from '../../core/v1/pod-template-validation.ts';
import { templateWarnings } from '../../core/v1/pod-warnings.ts';
import type { PodTemplateSpec } from '../../core/v1/types.gen.ts';
import { validateLabelSelector } from '../../meta/v1/label-selector.ts';
import type { LabelSelector } from '../../meta/v1/types.gen.ts';

export interface Workload extends KubeObject {
  spec: { selector: LabelSelector; template: PodTemplateSpec };
}

/** Of a kind with a wanted number of pods. */
interface Scaled extends KubeObject {
  spec: { replicas: number };
  status?: { replicas?: number | undefined; readyReplicas?: number | undefined } | undefined;
}

/** The selector in the form of `?labelSelector=`. */
export const selectorText = (workload: Workload) =>
  formatSelector(selectorFromLabelSelector(workload.spec.selector));

/** How the scale subresource reads and writes the numbers. */
export const podScale = {
  getReplicas: ({ spec }: Scaled) => spec.replicas,
  setReplicas: ({ spec }: Scaled, replicas: number) => {
    spec.replicas = replicas;
  },
  statusReplicas: ({ status }: Scaled) => status?.replicas ?? 0,
};

export const workloadScale = { ...podScale, selector: selectorText };

/** How many pods there shall be and are, each number by itself. */
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

/** The same in one text. */
export const readyPodsColumn: Column<Scaled> = {
  name: 'Ready',
  type: 'string',
  description: 'Ready pods, out of the desired number of pods.',
  cell: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas}`,
};

/** The template's, and that pods are named after the object. */
export const workloadWarnings = (workload: Workload, old: Workload | undefined): string[] => [
  ...podNameWarnings(workload, old),
  ...ownTemplateWarnings(workload, old),
];

/** The template's alone. */
export const ownTemplateWarnings = templateWarnings(({ spec }: Workload) => spec.template, 'spec.template');

export function validateWorkload({ kind, spec }: Workload): StatusCause[] {
  return [
    ...validateSelection(kind, spec),
    ...validatePodTemplate(spec.template, 'spec.template'),
    ...validateEndlessPods(kind, spec.template),
  ];
}

/** The pods that exist belong to the selector: with another one they would be orphans. */
export function validateSelectorUnchanged({ spec }: Workload, { spec: old }: Workload): StatusCause[] {
  if (deepEqual(spec.selector, old.selector)) return [];
  return [invalidCause('spec.selector', spec.selector, 'field is immutable')];
}

/** An empty selector would adopt every pod; one that misses its own template would create pods without end. */
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

/** Of a workload that replaces pods that have ended: those that end by themselves would be replaced for ever. */
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

/** Which containers, which images: only with `-o wide`. */
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

/** And which pods. */
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
