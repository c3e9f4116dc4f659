/**
 * Maintains the versions and the instances of each Function: as many instances of the active version as the
 * gateways demand.
 */

import type { Lease } from '../../../api/coordination/v1/lease.ts';
import { leaseResource } from '../../../api/coordination/v1/lease.ts';
import { masterLabel } from '../../../api/coordination/v1/master-lease.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { type AccountRights, read, writeEvents } from '../../../api/rbac/v1/rule-rows.ts';
import { deepCopy, deepEqual } from '../../../apimachinery/equality.ts';
import { selectorFromMap } from '../../../apimachinery/labels.ts';
import { controllerOf, isTerminating, type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import { isAlreadyExists } from '../../../apimachinery/status-error.ts';
import { sha256 } from '../../../base/sha256.ts';
import { rfc3339 } from '../../../base/time.ts';
import type { Lister } from '../../../client/informer.ts';
import { controllerReference } from '../../../controller-runtime/claim.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  type ReconcileResult,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { verifyAfter } from '../../../controller-runtime/observed-writes.ts';
import { identitiesOf } from '../../../controllers/masters/masters-plan.ts';
import { OwnedObjects } from '../../../controllers/workloads/owned-objects.ts';
import { OwnedPods } from '../../../controllers/workloads/pods/owned-pods.ts';
import { type Fn, functionResource } from '../api/function.ts';
import { functionLabel } from '../api/function-instance.ts';
import { type FunctionVersion, functionVersionResource } from '../api/function-version.ts';
import { planFunction } from './function-plan.ts';
import { instanceOf } from './instance-plan.ts';
import { type RuntimeImages, statusOfTwin, versionOf } from './version-plan.ts';
import { WaitingInstances } from './waiting-instances.ts';

export const functionRights: AccountRights = {
  own: [
    [read, 'minik8s.io', 'functions'],
    ['patch', 'minik8s.io', 'functions/status'],
    ['get list watch create delete', 'minik8s.io', 'functionversions'],
    ['update', 'minik8s.io', 'functionversions/status'],
    ['get list watch create patch delete', 'core', 'pods'],
    [read, 'core', 'nodes'],
    [read, 'coordination.k8s.io', 'leases'],
    writeEvents,
  ],
};

const masterScope = { namespace: 'kube-system', labelSelector: masterLabel };

export const functionController =
  (runtimeImages: RuntimeImages): ControllerFactory =>
  (context) =>
    define(runtimeImages, context);

function define(runtimeImages: RuntimeImages, context: ControllerContext): ControllerDefinition {
  const controller = new FunctionController(runtimeImages, context);
  return {
    name: 'function',
    workers: 8,
    watches: [
      watched(functionResource, (fn) => [objectKey(fn)]),
      watched(leaseResource, () => controller.leaseKeys(), masterScope),
      controller.versions.watch,
      controller.pods.watch,
    ],
    reconcile: (key) => controller.reconcile(key),
  };
}

class FunctionController {
  readonly #context: ControllerContext;
  readonly #runtimeImages: RuntimeImages;
  readonly #waiting: WaitingInstances;
  readonly #functions: Lister<Fn>;
  readonly #leases: Lister<Lease>;
  readonly pods: OwnedInstances;
  readonly versions: OwnedVersions;
  #masters: ReadonlySet<string> = new Set();

  constructor(runtimeImages: RuntimeImages, context: ControllerContext) {
    const { informers } = context;
    const selectorOf = ({ metadata }: Fn) => selectorFromMap({ [functionLabel]: metadata.name });
    // Instances and versions are created only by this controller, so none is adopted.
    const kind = { resource: functionResource, selectorOf, mayAdopt: () => false };
    this.#context = context;
    this.#runtimeImages = runtimeImages;
    this.#waiting = new WaitingInstances(context);
    this.#functions = informers.informerFor(functionResource).lister;
    this.#leases = informers.informerFor(leaseResource, masterScope).lister;
    this.pods = new OwnedInstances(context, kind);
    this.versions = new OwnedVersions(context, functionVersionResource, kind);
  }

  /**
   * Returns the keys of affected functions if the set of masters changed. Leases are renewed every few
   * seconds; the renewals are ignored.
   */
  leaseKeys(): readonly ObjectKey[] {
    const alive = identitiesOf(this.#leases.list(masterScope.namespace));
    if (deepEqual([...alive].sort(), [...this.#masters].sort())) return [];
    this.#masters = alive;
    return this.#functions
      .list()
      .filter(({ status }) => status?.demand)
      .map(objectKey);
  }

  async reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const fn = this.#functions.get(key);
    if (!fn || isTerminating(fn)) return undefined;
    const settled = (await this.pods.settled(key)) && (await this.versions.settled(key));
    if (!settled) return { requeueAfter: verifyAfter };
    const own = await this.versions.claim(fn);
    const draft = versionOf(fn, this.#runtimeImages, sha256);
    const latest = own.find(({ metadata }) => metadata.name === draft.metadata.name);
    if (!latest) {
      await this.versions.make(fn, draft);
      return undefined;
    }
    const status = statusOfTwin(latest, own);
    if (status) {
      const built = { ...deepCopy(latest), status: deepCopy(status) };
      this.versions.wrote(
        fn,
        await this.#context.client.resource(functionVersionResource).updateStatus(built),
      );
      return undefined;
    }
    return this.#carryOut(fn, own, await this.pods.claim(fn), latest.metadata.name);
  }

  async #carryOut(
    fn: Fn,
    own: readonly FunctionVersion[],
    instances: readonly Pod[],
    latest: string,
  ): Promise<ReconcileResult | undefined> {
    const now = this.#context.clock.now();
    const plan = planFunction(fn, {
      versions: own.map(({ metadata }) => metadata.name),
      latest,
      pods: instances,
      masters: identitiesOf(this.#leases.list(masterScope.namespace)),
      now,
      timestamp: rfc3339(now),
    });
    // Gateways route to the active version, so the status is written before instances of the previous version
    // are removed.
    await this.#writeStatus(fn, plan.status);
    if (plan.problem) this.#context.events.event(fn, 'Warning', plan.problem.reason, plan.problem.message);
    for (const { version, count } of plan.create) {
      const of = own.find(({ metadata }) => metadata.name === version);
      // A version is tried out with a newly built instance; afterwards waiting instances are used as well.
      if (of) await this.#makeInstances(fn, of, count, version === plan.status.activeVersion);
    }
    const failed = await this.pods.removeAll(fn, plan.remove);
    if (failed?.error) throw failed.error;
    for (const one of own.filter(({ metadata }) => plan.obsolete.includes(metadata.name)))
      await this.versions.forget(fn, one);
    return plan.again === undefined ? undefined : { requeueAfter: plan.again };
  }

  /** Creates instances. Waiting instances are assigned first. */
  async #makeInstances(fn: Fn, version: FunctionVersion, count: number, mayWait: boolean): Promise<void> {
    const given = mayWait ? await this.#waiting.give(fn, version, count) : [];
    for (const pod of given) this.pods.gave(fn, pod);
    const drafts = Array.from({ length: count - given.length }, () => instanceOf(fn, version));
    const failed = await this.pods.createAll(fn, drafts);
    if (failed?.error) throw failed.error;
  }

  /**
   * Writes the status by a patch of this controller's own fields, because the gateways write the demand at
   * any time.
   */
  async #writeStatus(fn: Fn, status: NonNullable<Fn['status']>): Promise<void> {
    if (deepEqual(status, fn.status)) return;
    const { demand = {}, ...own } = status;
    const gone = Object.keys(fn.status?.demand ?? {}).filter((master) => !Object.hasOwn(demand, master));
    const body = {
      metadata: { uid: fn.metadata.uid },
      status: {
        ...own,
        ...(own.activeVersion === undefined && { activeVersion: null }),
        ...(gone.length > 0 && { demand: Object.fromEntries(gone.map((master) => [master, null])) }),
      },
    };
    const { name, namespace = '' } = fn.metadata;
    await ifPresent(
      this.#context.client.resource(functionResource).patch(name, namespace, 'merge', body, 'status'),
    );
  }
}

class OwnedInstances extends OwnedPods<Fn> {
  /** Records that the pod now belongs to the owner. */
  gave(owner: Fn, pod: Pod): void {
    this.writes.written(objectKey(owner), pod, this.context.clock.now());
  }
}

class OwnedVersions extends OwnedObjects<Fn, FunctionVersion> {
  async make(owner: Fn, draft: ReturnType<typeof versionOf>): Promise<void> {
    const { client, clock, events } = this.context;
    const metadata = { ...draft.metadata, ownerReferences: [controllerReference(functionResource, owner)] };
    try {
      const made = await client.resource(functionVersionResource).create({ ...draft, metadata });
      this.writes.written(objectKey(owner), made, clock.now());
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const { name = '', namespace } = draft.metadata;
      const there = await ifPresent(client.resource(functionVersionResource).get(name, namespace));
      // The answer to an earlier create was lost, and the cache does not show the version yet.
      if (there && controllerOf(there)?.uid === owner.metadata.uid) return this.wrote(owner, there);
      const message = `FunctionVersion ${name} exists already, but does not belong to this function: delete it`;
      if (there) events.event(owner, 'Warning', 'FailedCreate', message);
      throw error;
    }
  }

  wrote(owner: Fn, version: FunctionVersion): void {
    this.writes.written(objectKey(owner), version, this.context.clock.now());
  }

  async forget(owner: Fn, version: FunctionVersion): Promise<void> {
    const { client, clock } = this.context;
    const { name, namespace, uid } = version.metadata;
    await ifPresent(
      client.resource(functionVersionResource).delete(name, namespace, { preconditions: { uid } }),
    );
    this.writes.removed(objectKey(owner), version, clock.now());
  }
}
