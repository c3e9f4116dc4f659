/** Maintains the pods of a StatefulSet, each with its name and its claims. */

import { type StatefulSet, statefulSetResource } from '../../../api/apps/v1/stateful-set.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { type AccountRights, read, writeEvents } from '../../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../../apimachinery/equality.ts';
import { selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import { isTerminating, type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import { isNamespaceTerminating } from '../../../apimachinery/status-error.ts';
import { errorMessage } from '../../../base/log.ts';
import type { Lister } from '../../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent, unlessNamespaceEnds } from '../../../controller-runtime/if-present.ts';
import { ObservedWrites, verifyAfter } from '../../../controller-runtime/observed-writes.ts';
import { settleAll } from '../../../controller-runtime/settle-all.ts';
import { OwnedPods, type PodWords } from '../pods/owned-pods.ts';
import { type History, OwnedRevisions } from '../revisions/owned-revisions.ts';
import { templateOf } from '../revisions/revisions-plan.ts';
import { StatefulClaims } from './stateful-claims.ts';
import { ordinalOf, revisionOf } from './stateful-pods-plan.ts';
import { planSteps, type Step } from './stateful-set-plan.ts';
import { planStatus, type StatefulSetStatus } from './stateful-status-plan.ts';

export const statefulSetRights: AccountRights = {
  kubernetes: [
    ['list watch', 'core', 'pods'],
    [read, 'apps', 'statefulsets'],
    ['update', 'apps', 'statefulsets/status'],
    ['update', 'apps', 'statefulsets/finalizers'],
    ['get create update patch delete', 'core', 'pods'],
    ['get list watch create update patch delete', 'apps', 'controllerrevisions'],
    ['get list watch create', 'core', 'persistentvolumeclaims'],
    writeEvents,
    ['update delete', 'core', 'persistentvolumeclaims'],
    ['update', 'core', 'pods/finalizers'],
  ],
};

const words: PodWords<StatefulSet> = (verb, set, pod, error) => {
  const how = error === undefined ? 'successful' : `failed error: ${error}`;
  return `${verb} Pod ${pod} in StatefulSet ${set.metadata.name} ${how}`;
};

export const statefulSetController = (context: ControllerContext): ControllerDefinition =>
  new StatefulSetController(context).definition();

class StatefulSetController {
  readonly #context: ControllerContext;
  readonly #sets: Lister<StatefulSet>;
  readonly #pods: OwnedPods<StatefulSet>;
  readonly #revisions: OwnedRevisions<StatefulSet>;
  readonly #claims: StatefulClaims;
  readonly #ownWrites: ObservedWrites<StatefulSet>;

  constructor(context: ControllerContext) {
    const { informers, client } = context;
    this.#context = context;
    const informer = informers.informerFor(statefulSetResource);
    this.#sets = informer.lister;
    const kind = {
      resource: statefulSetResource,
      selectorOf: ({ spec }: StatefulSet) => selectorFromLabelSelector(spec.selector),
    };
    this.#pods = new OwnedPods(context, {
      ...kind,
      mayAdopt: () => true,
      isMember: (pod, set) => ordinalOf(set, pod) !== undefined,
      message: words,
    });
    this.#revisions = new OwnedRevisions(context, { ...kind, hashLabel: 'controller.kubernetes.io/hash' });
    this.#claims = new StatefulClaims(context, this.#sets);
    this.#ownWrites = new ObservedWrites(client, statefulSetResource, informer);
  }

  definition(): ControllerDefinition {
    return {
      name: 'statefulset',
      watches: [
        watched(statefulSetResource, (set) => [objectKey(set)]),
        this.#pods.watch,
        this.#revisions.watch,
        this.#claims.watch,
      ],
      reconcile: (key) => this.#reconcile(key),
    };
  }

  async #reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const { clock } = this.#context;
    const set = this.#sets.get(key);
    if (!set) return undefined;
    const settled =
      (await this.#pods.settled(key)) &&
      (await this.#revisions.settled(key)) &&
      (await this.#claims.settled(key)) &&
      (await this.#ownWrites.settled(key, clock.now()));
    if (!settled) return { requeueAfter: verifyAfter };
    const owned = await this.#pods.claim(set);
    if (isTerminating(set)) {
      const { currentRevision: current, updateRevision: update } = set.status ?? {};
      return this.#writeStatus(key, set, { current, update }, owned, new Set());
    }
    const history = await unlessNamespaceEnds(this.#historyOf(set));
    if (!history) return undefined;
    if (history === 'later') return { requeueAfter: verifyAfter };
    if (history === 'collision') {
      const collisionCount = (set.status?.collisionCount ?? 0) + 1;
      await this.#write(key, set, { replicas: 0, availableReplicas: 0, ...set.status, collisionCount });
      return undefined;
    }
    return this.#keepPods(key, set, history, owned);
  }

  async #historyOf(set: StatefulSet) {
    return this.#revisions.bringUpToDate(set, await this.#revisions.claim(set));
  }

  async #keepPods(key: ObjectKey, set: StatefulSet, history: History, owned: readonly Pod[]) {
    const { clock } = this.#context;
    const known = [...history.old, ...history.duplicates, history.current];
    const was = known.find(({ metadata }) => metadata.name === set.status?.currentRevision);
    const current = was ?? history.current;
    const names = { current: current.metadata.name, update: history.current.metadata.name };
    const steps = planSteps({
      set,
      revisions: names,
      currentTemplate: templateOf(current) ?? set.spec.template,
      pods: owned,
      claim: (name) => this.#claims.get(name, set.metadata.namespace),
      now: clock.now(),
    });
    const going = new Set<Pod>();
    const failure = await this.#carryOut(set, steps, going);
    if (!failure) {
      const used = new Set([...Object.values(names), ...owned.map(revisionOf)]);
      const unused = known.filter(({ metadata }) => !used.has(metadata.name));
      await this.#revisions.removeAll(
        set,
        unused.slice(0, Math.max(0, unused.length - set.spec.revisionHistoryLimit)),
      );
    }
    const result = await this.#writeStatus(key, set, names, owned, going);
    if (failure?.error) throw failure.error;
    return result;
  }

  /** Resolves to the first failure; adds the deleted pods to `going`. */
  async #carryOut(set: StatefulSet, groups: readonly (readonly Step[])[], going: Set<Pod>) {
    const { clock } = this.#context;
    for (const group of groups) {
      const makes = group.filter((step) => step.type === 'create');
      const others = group.filter((step) => step.type !== 'create');
      const results = await settleAll(clock, others, (step) => this.#act(set, step, going));
      const failed = results.find((result) => result.status === 'rejected');
      const notMade = await this.#pods.makeAll(makes, (step) => this.#make(set, step));
      if (failed && !isNamespaceTerminating(failed.reason)) return { error: failed.reason };
      if (failed || notMade) return { error: notMade?.error };
    }
    return undefined;
  }

  async #make(set: StatefulSet, { pod, claims: drafts }: Extract<Step, { type: 'create' }>) {
    const { events } = this.#context;
    const { name = '' } = pod.metadata;
    try {
      await this.#claims.create(set, name, drafts);
    } catch (error) {
      if (!isNamespaceTerminating(error))
        events.event(set, 'Warning', 'FailedCreate', words('create', set, name, errorMessage(error)));
      throw error;
    }
    await this.#pods.create(set, pod);
  }

  async #act(set: StatefulSet, step: Exclude<Step, { type: 'create' }>, going: Set<Pod>) {
    const { events } = this.#context;
    switch (step.type) {
      case 'createClaims':
        return this.#claims.create(set, step.pod, step.claims);
      case 'setOwners':
        return this.#claims.setOwners(set, step.claim, step.conflict);
      case 'update':
        return this.#pods.update(set, step.pod);
      case 'remove':
        await this.#pods.remove(set, step.pod);
        return void going.add(step.pod);
      case 'wait':
        return events.event(set, 'Warning', 'FailedCreate', words('create', set, step.pod, step.why));
    }
  }

  async #writeStatus(
    key: ObjectKey,
    set: StatefulSet,
    names: { current: string | undefined; update: string | undefined },
    owned: readonly Pod[],
    going: ReadonlySet<Pod>,
  ): Promise<ReconcileResult | undefined> {
    const { clock } = this.#context;
    const { status, changed, nextAvailableIn } = planStatus(set, names, owned, going, clock.now());
    if (changed) await this.#write(key, set, status);
    return nextAvailableIn === undefined ? undefined : { requeueAfter: nextAvailableIn };
  }

  async #write(key: ObjectKey, set: StatefulSet, status: StatefulSetStatus): Promise<void> {
    const { client, clock } = this.#context;
    const written = await ifPresent(
      client.resource(statefulSetResource).updateStatus({ ...deepCopy(set), status }),
    );
    if (written) this.#ownWrites.written(key, written, clock.now());
  }
}
