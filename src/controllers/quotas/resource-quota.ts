/**
 * Maintains the usage in the status of each ResourceQuota (upstream: pkg/controller/resourcequota). Admission
 * raises it before an object is created (kube-apiserver/admission/resource-quota.ts). This controller lowers
 * it when objects are deleted, and corrects it after failures.
 */

import { type ResourceQuota, resourceQuotaResource } from '../../api/core/v1/resource-quota.ts';
import type { Evaluator } from '../../api/quota/evaluator.ts';
import { evaluatorOf } from '../../api/quota/evaluators.ts';
import { type AccountRights, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { isTerminating, type KubeObject, type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import type { Lister } from '../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import {
  type Counted,
  givenUp,
  hasRisen,
  type Observation,
  observe,
  type Passing,
  planStatus,
  settleMs,
  withPassing,
} from './resource-quota-plan.ts';

export const resourceQuotaRights: AccountRights = {
  kubernetes: [['list watch', '*', '*'], ['update', 'core', 'resourcequotas/status'], writeEvents],
};

/** Milliseconds after which every quota is counted again (upstream: --resource-quota-sync-period). */
export const resyncMs = 5 * 60_000;

/** Minimum milliseconds between two counts of one quota, however many changes its namespace has. */
const pauseMs = 200;

/**
 * State of a quota. If it is lost, charges are only released later. Times are readings of the monotonic
 * clock.
 */
interface Memory {
  used: NonNullable<ResourceQuota['status']>['used'];
  /** Time at which the reported usage last rose. */
  risenAt: number;
  countedAt?: number;
  observation?: Observation;
  /** Objects created since the observation, by uid. */
  readonly came: Map<string, Passing>;
}

export const resourceQuotaController = (context: ControllerContext): ControllerDefinition =>
  new ResourceQuotaController(context).definition();

class ResourceQuotaController {
  readonly #context: ControllerContext;
  readonly #quotas: Lister<ResourceQuota>;
  readonly #memories = new Map<ObjectKey, Memory>();

  constructor(context: ControllerContext) {
    const { informers } = context;
    this.#context = context;
    this.#quotas = informers.informerFor(resourceQuotaResource).lister;
  }

  definition(): ControllerDefinition {
    return {
      name: 'resource-quota',
      watches: [watched(resourceQuotaResource, (quota) => [objectKey(quota)])],
      watchOf: (kind) => {
        const evaluator = kind.namespaced ? evaluatorOf(kind) : undefined;
        if (!evaluator) return undefined;
        return watched(kind, (object) => {
          const keys = this.#keysIn(evaluator, object.metadata.namespace);
          for (const key of keys) this.#note(key, evaluator, object);
          return keys;
        });
      },
      keysOfKind: (kind) => {
        const evaluator = evaluatorOf(kind);
        return evaluator ? this.#keysIn(evaluator) : [];
      },
      reconcile: (key) => this.#reconcile(key),
    };
  }

  async #reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const { clock, client } = this.#context;
    const quota = this.#quotas.get(key);
    if (!quota || isTerminating(quota)) {
      this.#memories.delete(key);
      return undefined;
    }
    const [now, passed] = [clock.now(), clock.monotonic()];
    const memory = this.#remember(key, quota, passed);
    const pause = memory.countedAt === undefined ? 0 : memory.countedAt + pauseMs - passed;
    if (pause > 0) return { requeueAfter: pause };
    memory.countedAt = passed;
    const observation = observe(quota, this.#countedIn(quota), now, memory.observation);
    const came = [...memory.came];
    const before = memory.observation && withPassing(quota, memory.observation, memory.came.values(), now);
    const gone = givenUp(before, observation);
    const settlesIn = Math.max(0, memory.risenAt + settleMs - passed);
    const { status, unsettled } = planStatus(quota, observation.used, gone, settlesIn === 0);
    if (status) {
      const wanted = { ...deepCopy(quota), status };
      const written = await ifPresent(client.resource(resourceQuotaResource).updateStatus(wanted));
      memory.used = written?.status?.used;
    }
    // The observation is kept only after the write, so that the next attempt releases the same usage if this
    // one fails.
    memory.observation = observation;
    for (const [uid] of came) memory.came.delete(uid);
    const lessIn = observation.until === undefined ? resyncMs : Math.max(1, observation.until - now);
    return { requeueAfter: Math.min(resyncMs, lessIn, unsettled ? Math.max(pauseMs, settlesIn) : resyncMs) };
  }

  /**
   * Updates the state of a quota. Usage charged before this process started may not be stored yet, like usage
   * charged now.
   */
  #remember(key: ObjectKey, { status }: ResourceQuota, passed: number): Memory {
    const memory = this.#memories.get(key) ?? { used: undefined, risenAt: passed, came: new Map() };
    this.#memories.set(key, memory);
    if (hasRisen(memory.used, status?.used)) memory.risenAt = passed;
    memory.used = status?.used;
    return memory;
  }

  #countedIn({ metadata }: ResourceQuota): readonly Counted[] {
    const { kinds, informers } = this.#context;
    return kinds.stored.flatMap((kind) => {
      const evaluator = kind.namespaced ? evaluatorOf(kind) : undefined;
      if (!evaluator) return [];
      const informer = informers.informerFor(kind);
      if (!informer.hasSynced) return [];
      return [{ evaluator, objects: () => informer.lister.list(metadata.namespace) }];
    });
  }

  /** Returns the keys of quotas that count such objects, of all namespaces if none is given. */
  #keysIn({ counts }: Evaluator, namespace?: string): readonly ObjectKey[] {
    return this.#quotas
      .list(namespace)
      .filter(({ spec }) => Object.keys(spec.hard ?? {}).some(counts))
      .map(objectKey);
  }

  /** Records a created object, because it may be deleted before its quota is counted. */
  #note(key: ObjectKey, evaluator: Evaluator, object: KubeObject): void {
    const memory = this.#memories.get(key);
    const { uid } = object.metadata;
    if (!memory?.observation || memory.observation.entries.has(uid) || memory.came.has(uid)) return;
    memory.came.set(uid, { evaluator, object });
  }
}
