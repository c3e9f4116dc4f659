/** Runs a pod of a DaemonSet on every node that matches its template. */

import { type DaemonSet, daemonSetResource } from '../../../api/apps/v1/daemon-set.ts';
import { type Node, nodeResource } from '../../../api/core/v1/node/node.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { type AccountRights, read, writeEvents } from '../../../api/rbac/v1/rule-rows.ts';
import { deepCopy, deepEqual } from '../../../apimachinery/equality.ts';
import { selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import { isTerminating, type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import type { Informer, Lister } from '../../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent, unlessNamespaceEnds } from '../../../controller-runtime/if-present.ts';
import { ObservedWrites, verifyAfter } from '../../../controller-runtime/observed-writes.ts';
import { OwnedPods } from '../pods/owned-pods.ts';
import { podDraft } from '../pods/pod-draft.ts';
import { type History, OwnedRevisions } from '../revisions/owned-revisions.ts';
import { revisionLabel } from '../revisions/revisions-plan.ts';
import { daemonTemplate, type NodeFit, nodeFit, templateForNode } from './daemon-nodes-plan.ts';
import { planRollout } from './daemon-rollout-plan.ts';
import { type DaemonSetStatus, type EndedPod, planDaemons, planStatus } from './daemon-set-plan.ts';
import { type DaemonChanges, daemonsOf } from './daemons-plan.ts';
import { FailedPods } from './failed-pods.ts';

export const daemonSetRights: AccountRights = {
  kubernetes: [
    [read, 'apps extensions', 'daemonsets'],
    ['update', 'apps extensions', 'daemonsets/status'],
    ['update', 'apps extensions', 'daemonsets/finalizers'],
    ['list watch', 'core', 'nodes'],
    ['list watch create patch delete', 'core', 'pods'],
    ['create', 'core', 'pods/binding'],
    ['get list watch create update patch delete', 'apps', 'controllerrevisions'],
    writeEvents,
  ],
  // The controller looks up pods that were created and deleted during a gap of its watch.
  own: [['get', 'core', 'pods']],
};

/** Maximum number of pods that are created, and maximum number that are deleted, in one reconcile. */
const burst = 250;

export const daemonSetController = (context: ControllerContext): ControllerDefinition =>
  new DaemonSetController(context).definition();

class DaemonSetController {
  readonly #context: ControllerContext;
  readonly #sets: Lister<DaemonSet>;
  readonly #nodeInformer: Informer<Node>;
  readonly #pods: OwnedPods<DaemonSet>;
  readonly #revisions: OwnedRevisions<DaemonSet>;
  readonly #ownWrites: ObservedWrites<DaemonSet>;
  readonly #failures: FailedPods;

  constructor(context: ControllerContext) {
    const { informers, client } = context;
    this.#context = context;
    const informer = informers.informerFor(daemonSetResource);
    this.#sets = informer.lister;
    this.#nodeInformer = informers.informerFor(nodeResource);
    const kind = {
      resource: daemonSetResource,
      selectorOf: ({ spec }: DaemonSet) => selectorFromLabelSelector(spec.selector),
    };
    this.#pods = new OwnedPods(context, { ...kind, mayAdopt: () => true });
    this.#revisions = new OwnedRevisions(context, { ...kind, hashLabel: revisionLabel });
    this.#ownWrites = new ObservedWrites(client, daemonSetResource, informer);
    this.#failures = new FailedPods();
    this.#nodeInformer.addEventHandler({
      onAdd: (node) => this.#enqueueWhere((fit) => fit(node).run),
      onUpdate: (node, old) => {
        const same =
          deepEqual(node.metadata.labels, old.metadata.labels) &&
          deepEqual(node.spec.taints, old.spec.taints);
        if (!same) this.#enqueueWhere((fit) => !deepEqual(fit(node), fit(old)));
      },
      onDelete: (node) => this.#enqueueWhere((fit) => fit(node).stay),
    });
  }

  definition(): ControllerDefinition {
    return {
      name: 'daemonset',
      watches: [
        watched(daemonSetResource, (set) => [objectKey(set)]),
        this.#pods.watch,
        this.#revisions.watch,
      ],
      reconcile: (key) => this.#reconcile(key),
    };
  }

  async #reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const { clock } = this.#context;
    const set = this.#sets.get(key);
    if (!set) this.#failures.forget(key);
    // The revisions of a terminating set may be gone before its pods, so its status is not updated.
    if (!set || isTerminating(set)) return undefined;
    const settled =
      (await this.#pods.settled(key)) &&
      (await this.#revisions.settled(key)) &&
      (await this.#ownWrites.settled(key, clock.now()));
    if (!settled) return { requeueAfter: verifyAfter };
    const history = await unlessNamespaceEnds(this.#historyOf(set));
    if (!history) return undefined;
    if (history === 'later') return { requeueAfter: verifyAfter };
    if (history === 'collision') {
      const collisionCount = (set.status?.collisionCount ?? 0) + 1;
      await this.#writeStatus(key, set, { ...noPods, ...set.status, collisionCount });
      return undefined;
    }
    return this.#keepPods(key, set, history);
  }

  async #historyOf(set: DaemonSet) {
    return this.#revisions.bringUpToDate(set, await this.#revisions.claim(set));
  }

  async #keepPods(key: ObjectKey, set: DaemonSet, history: History) {
    const { clock } = this.#context;
    const owned = await this.#pods.claim(set);
    if (history.duplicates.length > 0) {
      const wait = untilMerge(history, clock.now());
      if (wait > 0) return { requeueAfter: wait };
      await this.#mergeDuplicates(set, history, owned);
      return { requeueAfter: verifyAfter };
    }
    const hash = history.current.metadata.labels?.[revisionLabel] ?? history.current.metadata.name;
    const daemons = daemonsOf(
      set,
      hash,
      this.#nodeInformer.lister.list(),
      nodeFit(set.spec.template),
      owned,
      clock.now(),
    );
    const plan = planDaemons(daemons, (node) => this.#failures.waitFor(set, node, clock.now()));
    const remove = plan.remove.slice(0, burst);
    this.#emitEvents(set, plan.failed, plan.succeeded, new Set(remove));
    const missing = plan.create.length + plan.remove.length > 0;
    const failure = await this.#carryOut(set, hash, missing ? { ...plan, remove } : planRollout(daemons));
    if (!failure) await this.#revisions.removeAll(set, surplus(set, history, owned));
    const { status, changed, nextAvailableIn } = planStatus(daemons);
    if (changed) await this.#writeStatus(key, set, status);
    if (failure?.error) throw failure.error;
    const waits = [plan.retryIn, nextAvailableIn].filter((wait) => wait !== undefined);
    return waits.length > 0 ? { requeueAfter: Math.min(...waits) } : undefined;
  }

  async #carryOut(set: DaemonSet, hash: string, { create, remove }: DaemonChanges) {
    const template = daemonTemplate(set.spec.template, hash);
    const drafts = create
      .slice(0, burst)
      .map((node) => podDraft(daemonSetResource, set, templateForNode(template, node)));
    const notMade = await this.#pods.createAll(set, drafts);
    const notRemoved = await this.#pods.removeAll(set, remove.slice(0, burst));
    return notMade ?? notRemoved;
  }

  #emitEvents(
    set: DaemonSet,
    failed: readonly EndedPod[],
    succeeded: readonly EndedPod[],
    removed: ReadonlySet<Pod>,
  ): void {
    const { clock, events } = this.#context;
    const found = (what: string, { pod: { metadata }, node }: EndedPod) =>
      `Found ${what} daemon pod ${metadata.namespace}/${metadata.name} on node ${node}`;
    for (const one of failed) {
      if (!removed.has(one.pod)) continue;
      this.#failures.replaced(set, one.node, clock.now());
      events.event(set, 'Warning', 'FailedDaemonPod', `${found('failed', one)}, will try to kill it`);
    }
    for (const one of succeeded)
      if (removed.has(one.pod))
        events.event(
          set,
          'Normal',
          'SucceededDaemonPod',
          `${found('succeeded', one)}, will try to delete it`,
        );
  }

  /** Labels pods of a duplicate revision with the current one, so that they need not be replaced. */
  async #mergeDuplicates(set: DaemonSet, { current, duplicates }: History, owned: readonly Pod[]) {
    const hash = current.metadata.labels?.[revisionLabel];
    const others = new Set(duplicates.map(({ metadata }) => metadata.labels?.[revisionLabel]));
    for (const pod of owned) {
      const had = pod.metadata.labels?.[revisionLabel];
      if (hash && had && had !== hash && others.has(had))
        await this.#pods.label(set, pod, { [revisionLabel]: hash });
    }
    await this.#revisions.removeAll(set, duplicates);
  }

  async #writeStatus(key: ObjectKey, set: DaemonSet, status: DaemonSetStatus): Promise<void> {
    const { client, clock } = this.#context;
    const written = await ifPresent(
      client.resource(daemonSetResource).updateStatus({ ...deepCopy(set), status }),
    );
    if (written) this.#ownWrites.written(key, written, clock.now());
  }

  #enqueueWhere(concerns: (fit: (node: Node) => NodeFit) => boolean) {
    return this.#context.enqueue(
      this.#sets
        .list()
        .filter(({ spec }) => concerns(nodeFit(spec.template)))
        .map(objectKey),
    );
  }
}

const noPods: DaemonSetStatus = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
};

/**
 * Milliseconds before duplicate revisions are merged: the process that created one of them may still work
 * with both.
 */
const mergeAfter = 5_000;

const untilMerge = ({ current, duplicates }: History, now: number): number =>
  Math.max(...[current, ...duplicates].map(({ metadata }) => Date.parse(metadata.creationTimestamp))) +
  mergeAfter -
  now;

/**
 * Returns the revisions beyond the history limit, the oldest first, except those that existing pods still
 * use.
 */
function surplus({ spec }: DaemonSet, { old }: History, owned: readonly Pod[]) {
  const used = new Set(owned.map(({ metadata }) => metadata.labels?.[revisionLabel]));
  return old
    .filter(({ metadata }) => !used.has(metadata.labels?.[revisionLabel] ?? ''))
    .slice(0, Math.max(0, old.length - spec.revisionHistoryLimit));
}
