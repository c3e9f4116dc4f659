/** Maintains the pods of a StatefulSet, each with its name and its claims. */
import { type StatefulSet, statefulSetResource } from '../../../api/apps/v1/stateful-set.ts';
import type { Pod } from '../../../api/core/v1/pod.ts';
import { deepCopy } from '../../../apimachinery/equality.ts';
import { selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import { isTerminating, type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import { isNamespaceTerminating } from '../../../apimachinery/status-error.ts';
import { errorMessage } from '../../../base/log.ts';
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

const words: PodWords<StatefulSet> = (verb, set, pod, error) => {
  const how = error === undefined ? 'successful' : `failed error: ${error}`;
  return `${verb} Pod ${pod} in StatefulSet ${set.metadata.name} ${how}`;
};

export function statefulSetController(context: ControllerContext): ControllerDefinition {
  const { client, clock, events, informers } = context;
  const informer = informers.informerFor(statefulSetResource);
  const sets = informer.lister;
  const kind = {
    resource: statefulSetResource,
    selectorOf: ({ spec }: StatefulSet) => selectorFromLabelSelector(spec.selector),
  };
  const pods = new OwnedPods(context, {
    ...kind,
    mayAdopt: () => true,
    isMember: (pod, set) => ordinalOf(set, pod) !== undefined,
    say: words,
  });
  const revisions = new OwnedRevisions(context, { ...kind, hashLabel: 'controller.kubernetes.io/hash' });
  const claims = new StatefulClaims(context, sets);
  const ownWrites = new ObservedWrites(client, statefulSetResource, informer);

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const set = sets.get(key);
    if (!set) return undefined;
    const settled =
      (await pods.settled(key)) &&
      (await revisions.settled(key)) &&
      (await claims.settled(key)) &&
      (await ownWrites.settled(key, clock.now()));
    if (!settled) return { requeueAfter: verifyAfter };
    const owned = await pods.claim(set);
    if (isTerminating(set)) {
      const { currentRevision: current, updateRevision: update } = set.status ?? {};
      return writeStatus(key, set, { current, update }, owned, new Set());
    }
    const history = await unlessNamespaceEnds(historyOf(set));
    if (!history) return undefined;
    if (history === 'later') return { requeueAfter: verifyAfter };
    if (history === 'collision') {
      const collisionCount = (set.status?.collisionCount ?? 0) + 1;
      await write(key, set, { replicas: 0, availableReplicas: 0, ...set.status, collisionCount });
      return undefined;
    }
    return keepPods(key, set, history, owned);
  }

  async function historyOf(set: StatefulSet) {
    return revisions.bringUpToDate(set, await revisions.claim(set));
  }

  async function keepPods(key: ObjectKey, set: StatefulSet, history: History, owned: readonly Pod[]) {
    const known = [...history.old, ...history.duplicates, history.current];
    const was = known.find(({ metadata }) => metadata.name === set.status?.currentRevision);
    const current = was ?? history.current;
    const names = { current: current.metadata.name, update: history.current.metadata.name };
    const steps = planSteps({
      set,
      revisions: names,
      currentTemplate: templateOf(current) ?? set.spec.template,
      pods: owned,
      claim: (name) => claims.get(name, set.metadata.namespace),
      now: clock.now(),
    });
    const going = new Set<Pod>();
    const failure = await carryOut(set, steps, going);
    if (!failure) {
      const used = new Set([...Object.values(names), ...owned.map(revisionOf)]);
      const unused = known.filter(({ metadata }) => !used.has(metadata.name));
      await revisions.removeAll(
        set,
        unused.slice(0, Math.max(0, unused.length - set.spec.revisionHistoryLimit)),
      );
    }
    const result = await writeStatus(key, set, names, owned, going);
    if (failure?.error) throw failure.error;
    return result;
  }

  /** Resolves to the first failure; adds the deleted pods to `going`. */
  async function carryOut(set: StatefulSet, groups: readonly (readonly Step[])[], going: Set<Pod>) {
    for (const group of groups) {
      const makes = group.filter((step) => step.type === 'create');
      const others = group.filter((step) => step.type !== 'create');
      const results = await settleAll(clock, others, (step) => act(set, step, going));
      const failed = results.find((result) => result.status === 'rejected');
      const notMade = await pods.makeAll(makes, (step) => make(set, step));
      if (failed && !isNamespaceTerminating(failed.reason)) return { error: failed.reason };
      if (failed || notMade) return { error: notMade?.error };
    }
    return undefined;
  }

  async function make(set: StatefulSet, { pod, claims: drafts }: Extract<Step, { type: 'create' }>) {
    const { name = '' } = pod.metadata;
    try {
      await claims.create(set, name, drafts);
    } catch (error) {
      if (!isNamespaceTerminating(error))
        events.event(set, 'Warning', 'FailedCreate', words('create', set, name, errorMessage(error)));
      throw error;
    }
    await pods.create(set, pod);
  }

  async function act(set: StatefulSet, step: Exclude<Step, { type: 'create' }>, going: Set<Pod>) {
    switch (step.type) {
      case 'createClaims':
        return claims.create(set, step.pod, step.claims);
      case 'setOwners':
        return claims.setOwners(set, step.claim, step.conflict);
      case 'update':
        return pods.update(set, step.pod);
      case 'remove':
        await pods.remove(set, step.pod);
        return void going.add(step.pod);
      case 'wait':
        return events.event(set, 'Warning', 'FailedCreate', words('create', set, step.pod, step.why));
    }
  }

  async function writeStatus(
    key: ObjectKey,
    set: StatefulSet,
    names: { current: string | undefined; update: string | undefined },
    owned: readonly Pod[],
    going: ReadonlySet<Pod>,
  ): Promise<ReconcileResult | undefined> {
    const { status, changed, nextAvailableIn } = planStatus(set, names, owned, going, clock.now());
    if (changed) await write(key, set, status);
    return nextAvailableIn === undefined ? undefined : { requeueAfter: nextAvailableIn };
  }

  async function write(key: ObjectKey, set: StatefulSet, status: StatefulSetStatus): Promise<void> {
    const written = await ifPresent(
      client.resource(statefulSetResource).updateStatus({ ...deepCopy(set), status }),
    );
    if (written) ownWrites.written(key, written, clock.now());
  }

  return {
    name: 'statefulset',
    watches: [
      watched(statefulSetResource, (set) => [objectKey(set)]),
      pods.watch,
      revisions.watch,
      claims.watch,
    ],
    reconcile,
  };
}
