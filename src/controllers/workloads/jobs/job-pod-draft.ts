/** Builds the pods of a Job. Pure. */
import { type Job, jobResource } from '../../../api/batch/v1/job.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { Container } from '../../../api/core/v1/types.gen.ts';
import type { Draft } from '../../../apimachinery/meta.ts';
import { podDraft } from '../pods/pod-draft.ts';
import { failureCounts } from './failure-policy-plan.ts';
import {
  failureCountKey,
  failuresBefore,
  ignoredFailureCountKey,
  ignoredFailuresBefore,
  indexKey,
  trackingFinalizer,
} from './job-pods-plan.ts';

/** Maximum characters of a name prefix, to which the server appends a suffix. */
const maxPrefixLength = 58;

export function jobPodDraft(job: Job): Draft<Pod> {
  const draft = podDraft(jobResource, job, job.spec.template);
  const { finalizers = [] } = draft.metadata;
  draft.metadata.finalizers = [...new Set([...finalizers, trackingFinalizer])];
  return draft;
}

/**
 * Returns the pod of an index. `replaced` is the last failed pod of that index, if it exists; its failure
 * count is continued.
 */
export function indexedPodDraft(job: Job, index: number, replaced: Pod | undefined): Draft<Pod> {
  const draft = jobPodDraft(job);
  const { metadata, spec } = draft;
  const suffix = `-${index}-`;
  metadata.generateName = job.metadata.name.slice(0, maxPrefixLength - suffix.length) + suffix;
  metadata.labels = { ...metadata.labels, [indexKey]: String(index) };
  metadata.annotations = {
    ...metadata.annotations,
    [indexKey]: String(index),
    ...(job.spec.backoffLimitPerIndex !== undefined && failureCounters(job, replaced)),
  };
  spec.hostname = `${job.metadata.name}-${index}`;
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) addIndexVariable(container);
  return draft;
}

function failureCounters(job: Job, replaced: Pod | undefined): Record<string, string> {
  if (!replaced) return { [failureCountKey]: '0' };
  const counts = failureCounts(job, replaced);
  const ignored = ignoredFailuresBefore(replaced) + (counts ? 0 : 1);
  return {
    [failureCountKey]: String(failuresBefore(replaced) + (counts ? 1 : 0)),
    ...(ignored > 0 && { [ignoredFailureCountKey]: String(ignored) }),
  };
}

function addIndexVariable(container: Container): void {
  const name = 'JOB_COMPLETION_INDEX';
  if (container.env?.some((variable) => variable.name === name)) return;
  const fieldRef = { apiVersion: 'v1', fieldPath: `metadata.labels['${indexKey}']` };
  container.env = [...(container.env ?? []), { name, valueFrom: { fieldRef } }];
}
