/** Groups of pods whose logs belong together: those of one workload, or one pod. Pure. */
import type { JsonObject } from '../../../../../apimachinery/equality.ts';
import { metadataOf } from '../../../../../apimachinery/fields.ts';
import { workloadOf } from '../../../pods/plan/workload.ts';

export interface WorkloadChoice {
  readonly id: string;
  readonly title: string;
  readonly namespace: string;
  /** Selector of the labels that the pods have in common and no other pods of the namespace; '' for a pod. */
  readonly labels: string;
  readonly pod: string;
  readonly pods: readonly JsonObject[];
}

/** Labels that differ between the pods of one workload. */
const ownLabels =
  /^(?:pod-template-hash|controller-revision-hash|statefulset\.kubernetes\.io\/pod-name|apps\.kubernetes\.io\/pod-index|(?:batch\.kubernetes\.io\/)?controller-uid|batch\.kubernetes\.io\/job-completion-index)$/;

export function workloadChoices(pods: readonly JsonObject[]): readonly WorkloadChoice[] {
  const groups = Map.groupBy(pods, (pod) => {
    const { kind, name } = workloadOf(pod);
    return `${metadataOf(pod).namespace}/${kind}/${name}`;
  });
  return [...groups].map(([id, own]) => choiceOf(id, own)).sort((a, b) => (a.title < b.title ? -1 : 1));
}

function choiceOf(id: string, pods: readonly JsonObject[]): WorkloadChoice {
  const [first = {}] = pods;
  const { namespace, name } = metadataOf(first);
  const workload = workloadOf(first);
  const labels = commonLabels(pods);
  const isPod = workload.kind === 'pods' || labels === '';
  return {
    ...{ id, namespace, pods },
    title: `${namespace}/${isPod ? name : workload.name}`,
    labels: isPod ? '' : labels,
    pod: isPod ? name : '',
  };
}

function commonLabels(pods: readonly JsonObject[]): string {
  const [first, ...rest] = pods.map((pod) => metadataOf(pod).labels);
  return Object.entries(first ?? {})
    .filter(([key, value]) => !ownLabels.test(key) && rest.every((labels) => labels[key] === value))
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(',');
}
