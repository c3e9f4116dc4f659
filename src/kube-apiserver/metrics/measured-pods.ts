/**
 * The parts of pods that their metrics need, kept current by a watch while clients request metrics. The watch
 * cache stores bytes: without these parts, each request would decode all pods.
 */
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import type { KubeObject, ObjectMeta } from '../../apimachinery/meta.ts';
import { type ResourceDefinition, storagePrefix } from '../../apimachinery/resource-definition.ts';
import type { MeasureQuery } from '../../apiserver/kind-behavior.ts';
import { selectionOf } from '../../apiserver/reads/selection.ts';
import { nextTurn } from '../../base/clock.ts';
import type { CacheEvent, EndWatch } from '../../storage/cache.ts';
import { type Reader, selected } from './measured-objects.ts';

/** The part of a pod that its metrics need, in the form of a pod. */
export interface MeasuredPod {
  readonly metadata: Pick<ObjectMeta, 'name' | 'namespace' | 'uid' | 'labels'>;
  readonly spec: {
    readonly nodeName?: string | undefined;
    readonly containers: readonly { readonly name: string }[];
    readonly initContainers?: readonly { readonly name: string }[] | undefined;
  };
  readonly status?: { readonly phase?: string | undefined } | undefined;
}

/** Fields of a pod by which a `MeasuredPod` can be selected. */
const keptFields: ReadonlySet<string> = new Set([
  'metadata.name',
  'metadata.namespace',
  'spec.nodeName',
  'status.phase',
]);
/** Milliseconds after the last request, after which the next change of a pod ends the watch. */
const unusedMs = 60_000;
/** Number of pods that are decoded in one turn of the event loop. */
const atOnce = 200;

interface Kept {
  readonly pods: Map<string, MeasuredPod>;
  /** Resolves when all pods are there. */
  readonly whole: Promise<void>;
}

const definition = podResource as ResourceDefinition;
const prefix = storagePrefix(definition, '');

export class MeasuredPods {
  readonly #server: Reader;
  #kept: Kept | undefined;
  #end: EndWatch | undefined;
  #askedAt = 0;

  constructor(server: Reader) {
    this.#server = server;
  }

  /** Resolves to the pods that the query selects, in the order of their keys. */
  async list(query: MeasureQuery): Promise<readonly MeasuredPod[]> {
    const { namespace, name, ...selectors } = query;
    const isKept = selectors.fieldSelector.every(({ field }) => keptFields.has(field));
    if (name !== undefined || !isKept) return selected<Pod>(this.#server, definition, query);
    this.#askedAt = this.#server.clock.monotonic();
    this.#kept ??= this.#begin();
    const { pods, whole } = this.#kept;
    await whole;
    const { matches, prefix: wanted } = selectionOf(definition, namespace, selectors);
    return [...pods]
      .filter(([key, pod]) => key.startsWith(wanted) && matches({ key, object: objectOf(pod) }))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, pod]) => pod);
  }

  #begin(): Kept {
    const { cache } = this.#server;
    const pods = new Map<string, MeasuredPod>();
    // Pods that have changed while the pods of the list are decoded.
    const changed = new Set<string>();
    const all = cache.list(prefix);
    this.#end = cache.watch(prefix, cache.revision, {
      onEvents: (events) => {
        for (const event of events) {
          changed.add(event.key);
          apply(pods, event);
        }
        if (this.#server.clock.monotonic() - this.#askedAt > unusedMs) this.#forget();
      },
      onExpired: () => this.#forget(),
    });
    const decode = async () => {
      for (const [index, one] of all.entries()) {
        if (!changed.has(one.key)) pods.set(one.key, partOf(one.unowned as Pod));
        if (index % atOnce === atOnce - 1) await nextTurn(this.#server.clock);
      }
      changed.clear();
    };
    return { pods, whole: decode() };
  }

  #forget(): void {
    this.#end?.();
    this.#end = undefined;
    this.#kept = undefined;
  }
}

/** Returns the pod for a selection, which reads none but the kept fields. */
const objectOf = (pod: MeasuredPod): KubeObject => pod as unknown as KubeObject;

function apply(pods: Map<string, MeasuredPod>, { type, key, current }: CacheEvent): void {
  if (type === 'DELETED') pods.delete(key);
  else pods.set(key, partOf(current.unowned as Pod));
}

const partOf = ({ metadata: { name, namespace, uid, labels }, spec, status }: Pod): MeasuredPod => ({
  metadata: { name, uid, ...(namespace && { namespace }), ...(labels && { labels }) },
  spec: {
    nodeName: spec.nodeName,
    containers: spec.containers.map((container) => ({ name: container.name })),
    ...(spec.initContainers && { initContainers: spec.initContainers.map((one) => ({ name: one.name })) }),
  },
  status: { phase: status?.phase },
});
