/**
 * The generated selector of a Job: the pods carry the Job's uid, so that no Job selects another Job's pods.
 */
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { matches, selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import type { Job } from './types.gen.ts';

const controllerUidLabel = 'batch.kubernetes.io/controller-uid';
const jobNameLabel = 'batch.kubernetes.io/job-name';

/**
 * Returns the generated labels. The older names of both labels are also set and validated, since clients
 * select by them.
 */
const generatedLabels = ({ uid, name }: Job['metadata']): Readonly<Record<string, string>> => ({
  'controller-uid': uid,
  'job-name': name,
  [controllerUidLabel]: uid,
  [jobNameLabel]: name,
});

/** Sets the selector and labels. Values given by the client are kept, and rejected later if they differ. */
export function generateSelector({ metadata, spec }: Job): void {
  if (spec.manualSelector) return;
  const { metadata: pods } = spec.template;
  pods.labels ??= {};
  for (const [key, value] of Object.entries(generatedLabels(metadata))) pods.labels[key] ??= value;
  spec.selector ??= {};
  spec.selector.matchLabels = { [controllerUidLabel]: metadata.uid, ...spec.selector.matchLabels };
}

export function validateGeneratedSelector({ metadata, spec }: Job): StatusCause[] {
  if (spec.manualSelector || !spec.selector) return [];
  const expected = generatedLabels(metadata);
  const { labels = {} } = spec.template.metadata;
  const causes = Object.entries(expected).flatMap(([key, value]) => {
    const path = `spec.template.metadata.labels[${key}]`;
    if (!Object.hasOwn(labels, key)) return [requiredCause(path, `must be '${value}'`)];
    return labels[key] === value ? [] : [invalidCause(path, labels, `must be '${value}'`)];
  });
  if (matches(selectorFromLabelSelector(spec.selector), expected)) return causes;
  return [...causes, invalidCause('spec.selector', spec.selector, '`selector` not auto-generated')];
}
