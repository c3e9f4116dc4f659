/** Resolves the targets of autoscalers and their pods from the caches of all scalable kinds. */
import {
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalerResource,
} from '../../api/autoscaling/v2/horizontal-pod-autoscaler.ts';
import { podResource } from '../../api/core/v1/pod/pod.ts';
import type { Kinds } from '../../apimachinery/kind-set.ts';
import { isTerminating, type KubeObject, type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { newNotFound } from '../../apimachinery/status-error.ts';
import type { Clock } from '../../base/clock.ts';
import type { Lister } from '../../client/informer.ts';
import { type ControllerContext, type Watched, watched } from '../../controller-runtime/definition.ts';
import type { Target } from './autoscaler-plan.ts';
import { type Selected, SelectedPods } from './selected-pods-plan.ts';

type Scaled = Required<Pick<ResourceDefinition, 'scale'>> & ResourceDefinition;

/**
 * Milliseconds for which selected pods are reused, so that autoscalers that are synced together see the same
 * pods.
 */
const freshMs = 1_000;

export class ScaleTargets {
  readonly #kinds: Kinds;
  readonly #clock: Clock;
  readonly #autoscalers;
  readonly #pods;
  /** Listers by group and kind. The version in the reference to a target is ignored. */
  readonly #listers: ReadonlyMap<string, { readonly kind: Scaled; readonly lister: Lister<KubeObject> }>;
  /** Selected pods by namespace. */
  readonly #selections = new Map<string, { readonly at: number; readonly pods: SelectedPods }>();

  constructor({ informers, kinds, clock }: ControllerContext) {
    this.#kinds = kinds;
    this.#clock = clock;
    this.#autoscalers = informers.informerFor(horizontalPodAutoscalerResource).lister;
    this.#pods = informers.informerFor(podResource).lister;
    this.#listers = new Map(
      kinds.stored
        .filter((kind): kind is Scaled => kind.scale !== undefined)
        .map((kind) => [`${kind.group} ${kind.kind}`, { kind, lister: informers.informerFor(kind).lister }]),
    );
  }

  get watches(): readonly Watched[] {
    return [
      ...[...this.#listers.values()].map(({ kind }) => watched(kind, () => [])),
      watched(podResource, () => []),
    ];
  }

  /** Returns the kind of the target, or undefined if there is no scalable kind of that name. */
  kindOf({ spec }: HorizontalPodAutoscaler): Scaled | undefined {
    const { apiVersion, kind } = spec.scaleTargetRef;
    return this.#listers.get(`${groupOf(apiVersion)} ${kind}`)?.kind;
  }

  /** Returns the target; a text is the reason why it is unavailable. */
  targetOf({ spec, metadata }: HorizontalPodAutoscaler): Target | string {
    const { apiVersion, kind, name } = spec.scaleTargetRef;
    const group = groupOf(apiVersion);
    const known = this.#listers.get(`${group} ${kind}`);
    if (!known) {
      const isServed = this.#kinds.all.some((one) => one.kind === kind && one.group === group);
      if (isServed) return `the server could not find the requested resource: a ${kind} cannot be scaled`;
      return `no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`;
    }
    const object = known.lister.get(`${metadata.namespace}/${name}`);
    if (!object) return newNotFound(known.kind, name).message;
    const { scale } = known.kind;
    return {
      replicas: scale.getReplicas(object),
      current: scale.statusReplicas(object),
      selector: scale.selector(object),
    };
  }

  /**
   * Returns the pods of the target. They are selected once for all autoscalers of a namespace that are synced
   * together. A text is the reason why the selector cannot be parsed.
   */
  selectedBy(hpa: HorizontalPodAutoscaler, target: Target | string): Selected | string {
    if (typeof target === 'string' || target.selector === '') return nothingSelected;
    const { namespace = '' } = hpa.metadata;
    const now = this.#clock.monotonic();
    const known = this.#selections.get(namespace);
    const isFresh = (at: number) => now - at < freshMs;
    const selected = known && isFresh(known.at) && known.pods.of(objectKey(hpa), target.selector);
    if (selected) return selected;
    for (const [name, { at }] of this.#selections) if (!isFresh(at)) this.#selections.delete(name);
    const all = this.#autoscalers.list(namespace).flatMap((one): [ObjectKey, string][] => {
      const other = isTerminating(one) ? '' : this.targetOf(one);
      return typeof other === 'string' ? [] : [[objectKey(one), other.selector]];
    });
    const fresh = new SelectedPods(this.#pods.list(namespace), all);
    this.#selections.set(namespace, { at: now, pods: fresh });
    return fresh.of(objectKey(hpa), target.selector) ?? nothingSelected;
  }

  /** Returns the singular name of a kind, such as `service` for Service. */
  singularOf(kind: string): string {
    return this.#kinds.all.find((one) => one.kind === kind)?.singular ?? kind.toLowerCase();
  }
}

/** Returns the group of an API version; the core group is ''. */
const groupOf = (apiVersion = '') => (apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '');

const nothingSelected: Selected = { pods: [], autoscalers: [] };
