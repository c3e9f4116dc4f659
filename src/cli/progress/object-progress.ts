/** Progress texts for users who wait for objects. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, numberAt, recordsAt, textAt, valueAt } from '../objects/objects.ts';

/** An image pull in progress, as a node's agent reports it. */
export interface Pull {
  readonly image: string;
  /** Size in bytes of the layers that are known so far, and the part that is already pulled. */
  readonly totalBytes: number;
  readonly doneBytes: number;
  readonly layers: number;
  readonly doneLayers: number;
}

/** Returns why a deleted object still exists; for a namespace, what is left and whose finalizers hold it. */
export function deletionText(object: JsonObject): string {
  const left = namespaceContent(object);
  if (left !== '') return left;
  const { finalizers = [] } = { finalizers: valueAt(object, 'metadata', 'finalizers') } as {
    finalizers?: readonly string[];
  };
  if (finalizers.length > 0) return `waits for ${finalizers.join(', ')}`;
  return metadataOf(object).deletionTimestamp === undefined ? '' : 'stopping';
}

/**
 * Words that precede the message of a condition of a namespace that is being deleted, by the condition's
 * type.
 */
const namespaceConditions: Readonly<Record<string, string>> = {
  NamespaceDeletionDiscoveryFailure: '',
  NamespaceDeletionGroupVersionParsingFailure: '',
  NamespaceDeletionContentFailure: '',
  NamespaceContentRemaining: 'left: ',
  NamespaceFinalizersRemaining: 'waits for ',
};

/** Returns the messages of the namespace's conditions, shortened to what is left and what holds it. */
function namespaceContent(object: JsonObject): string {
  return recordsAt(object, 'status', 'conditions')
    .flatMap((one) => {
      const type = textAt(one, 'type');
      if (one.status !== 'True' || !Object.hasOwn(namespaceConditions, type)) return [];
      const message = textAt(one, 'message')
        .replace(/^Some .* remaining: /, '')
        .replaceAll(/(\S+?)\.? has (\d+) resource instances/g, '$2 $1')
        .replaceAll(/ in (\d+) resource instances/g, ' ($1)');
      return message === '' ? [] : [`${namespaceConditions[type]}${message}`];
    })
    .join('; ');
}

/** Returns the phase, or the reasons of unmet conditions; empty if there is neither. */
export function stateText(object: JsonObject): string {
  const waiting = waitingReasons(object);
  if (waiting.length > 0) return waiting.join(', ');
  const unmet = recordsAt(object, 'status', 'conditions').find(
    (one) => textAt(one, 'status') === 'False' && textAt(one, 'reason') !== '',
  );
  return textAt(unmet, 'reason') || textAt(object, 'status', 'phase');
}

/**
 * Returns how many pods of a workload are ready and what the others wait for. Pulls come first, with their
 * progress before the name of the image: a terminal of 80 columns has no room for the whole text.
 */
export function podsText(pods: readonly JsonObject[], pulls: readonly Pull[]): string {
  if (pods.length === 0) return '';
  const isReady = (pod: JsonObject) =>
    recordsAt(pod, 'status', 'conditions').some(
      (one) => textAt(one, 'type') === 'Ready' && textAt(one, 'status') === 'True',
    );
  const unready = pods.filter((pod) => !isReady(pod));
  const reasons = new Set([...unready.flatMap(waitingReasons), ...unready.flatMap(unscheduledReason)]);
  const pulled = pullTexts(pods, pulls);
  if (pulled.length > 0) for (const reason of duringPulls) reasons.delete(reason);
  const old = oldPods(pods);
  const current = pods.filter((pod) => !old.includes(pod));
  return [
    ...pulled,
    `${current.filter(isReady).length} of ${current.length} pods ready`,
    ...(old.length > 0 ? [`${old.length} of the old version left`] : []),
    ...reasons,
  ].join(', ');
}

/** Labels with the version of a workload that a pod was made from. */
const versionLabels = ['pod-template-hash', 'controller-revision-hash'];

/** Returns the pods of other versions than that of the newest pod. */
function oldPods(pods: readonly JsonObject[]): readonly JsonObject[] {
  const versionOf = (pod: JsonObject) =>
    versionLabels.map((label) => metadataOf(pod).labels[label] ?? '').join('/');
  const created = (pod: JsonObject) => metadataOf(pod).creationTimestamp ?? '';
  const [newest] = pods.toSorted((a, b) => (created(a) < created(b) ? 1 : created(a) > created(b) ? -1 : 0));
  return newest ? pods.filter((pod) => versionOf(pod) !== versionOf(newest)) : [];
}

/** Returns the pulls of images of the pods; empty if there are none. */
export const pullsText = (pods: readonly JsonObject[], pulls: readonly Pull[]): string =>
  pullTexts(pods, pulls).join(', ');

/** Returns the pulls of images of one pod; the state of the pod if there are none. */
export const podText = (pod: JsonObject, pulls: readonly Pull[]): string =>
  pullTexts([pod], pulls).join(', ') || stateText(pod);

/** Waiting reasons of a container whose image, or that of an earlier container, is being pulled. */
const duringPulls = ['ContainerCreating', 'PodInitializing'];

function pullTexts(pods: readonly JsonObject[], pulls: readonly Pull[]): readonly string[] {
  const images = new Set(pods.flatMap(imagesOf));
  // A node pulls an image once for several pods, each of which reports the pull.
  return [...new Set(pulls.filter(({ image }) => images.has(image)).map(pullText))];
}

/** Returns the nodes on which containers of the pods wait for something, such as an image. */
export const waitingNodes = (pods: readonly JsonObject[]): readonly string[] => [
  ...new Set(
    pods.filter((pod) => waitingReasons(pod).length > 0).map((pod) => textAt(pod, 'spec', 'nodeName')),
  ),
];

/** Reads an agent's answer at /pulls; invalid entries are left out. */
export const pullsIn = (answer: JsonObject): readonly Pull[] =>
  recordsAt(answer, 'pulls').map((pull) => ({
    image: textAt(pull, 'image'),
    totalBytes: numberAt(pull, 'totalBytes'),
    doneBytes: numberAt(pull, 'doneBytes'),
    layers: numberAt(pull, 'layers'),
    doneLayers: numberAt(pull, 'doneLayers'),
  }));

function pullText({ image, totalBytes, doneBytes, layers, doneLayers }: Pull): string {
  const bytes = totalBytes > 0 ? `, ${megabytes(doneBytes)}/${megabytes(totalBytes)} MB` : '';
  return layers === 0 ? `pulling ${image}` : `pulling ${doneLayers}/${layers} layers${bytes}: ${image}`;
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);

function waitingReasons(pod: JsonObject): readonly string[] {
  const statuses = ['initContainerStatuses', 'containerStatuses'].flatMap((field) =>
    recordsAt(pod, 'status', field),
  );
  return [...new Set(statuses.map((one) => textAt(one, 'state', 'waiting', 'reason')))].filter(
    (reason) => reason !== '',
  );
}

const unscheduledReason = (pod: JsonObject): readonly string[] =>
  recordsAt(pod, 'status', 'conditions')
    .filter((one) => one.type === 'PodScheduled' && one.status === 'False')
    .map((one) => textAt(one, 'reason'))
    .filter(Boolean);

const imagesOf = (pod: JsonObject): readonly string[] =>
  ['initContainers', 'containers'].flatMap((field) =>
    recordsAt(pod, 'spec', field).map((one) => textAt(one, 'image')),
  );
