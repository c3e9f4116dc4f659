/** What a person who waits for objects is told of how far they are. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, numberAt, recordsAt, textAt, valueAt } from '../objects.ts';

/** An image that a node pulls, as its agent tells it. */
export interface Pull {
  readonly image: string;
  /** Bytes of the layers that are known so far, and how many of them are there. */
  readonly totalBytes: number;
  readonly doneBytes: number;
  readonly layers: number;
  readonly doneLayers: number;
}

/** Why an object that was deleted is still there. */
export function deletionText(object: JsonObject): string {
  const { finalizers = [] } = { finalizers: valueAt(object, 'metadata', 'finalizers') } as {
    finalizers?: readonly string[];
  };
  if (finalizers.length > 0) return `waits for ${finalizers.join(', ')}`;
  return metadataOf(object).deletionTimestamp === undefined ? '' : 'stopping';
}

/** The phase, or what the conditions say that are not met; '' where it says neither. */
export function stateText(object: JsonObject): string {
  const waiting = waitingReasons(object);
  if (waiting.length > 0) return waiting.join(', ');
  const unmet = recordsAt(object, 'status', 'conditions').find(
    (one) => textAt(one, 'status') === 'False' && textAt(one, 'reason') !== '',
  );
  return textAt(unmet, 'reason') || textAt(object, 'status', 'phase');
}

/**
 * Returns how many pods of a workload are ready and what the others wait for. Pulls stand first, with their
 * amounts before the name of the image: a terminal of 80 columns has no room for all of it.
 */
export function podsText(pods: readonly JsonObject[], pulls: readonly Pull[]): string {
  if (pods.length === 0) return '';
  const isReady = (pod: JsonObject) =>
    recordsAt(pod, 'status', 'conditions').some(
      (one) => textAt(one, 'type') === 'Ready' && textAt(one, 'status') === 'True',
    );
  const reasons = new Set(pods.filter((pod) => !isReady(pod)).flatMap(waitingReasons));
  const pulled = pullTexts(pods, pulls);
  if (pulled.length > 0) for (const reason of duringPulls) reasons.delete(reason);
  return [...pulled, `${pods.filter(isReady).length} of ${pods.length} pods ready`, ...reasons].join(', ');
}

/** Returns the pulls of images of one pod, and the state of the pod while there are none. */
export const podText = (pod: JsonObject, pulls: readonly Pull[]): string =>
  pullTexts([pod], pulls).join(', ') || stateText(pod);

/** What a container waits for while its image, or that of one before it, is pulled. */
const duringPulls = ['ContainerCreating', 'PodInitializing'];

function pullTexts(pods: readonly JsonObject[], pulls: readonly Pull[]): readonly string[] {
  const images = new Set(pods.flatMap(imagesOf));
  // Each pod has a pull of its own, and a node pulls an image once.
  return [...new Set(pulls.filter(({ image }) => images.has(image)).map(pullText))];
}

/** The nodes on which containers of the pods wait for something, such as an image. */
export const waitingNodes = (pods: readonly JsonObject[]): readonly string[] => [
  ...new Set(
    pods.filter((pod) => waitingReasons(pod).length > 0).map((pod) => textAt(pod, 'spec', 'nodeName')),
  ),
];

/** What an agent answers at /pulls; what is of no such form is left out. */
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

const imagesOf = (pod: JsonObject): readonly string[] =>
  ['initContainers', 'containers'].flatMap((field) =>
    recordsAt(pod, 'spec', field).map((one) => textAt(one, 'image')),
  );
