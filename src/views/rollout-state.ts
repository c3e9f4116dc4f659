/**
 * The state of a workload's rollout, from its spec and status alone (kubectl's polymorphichelpers
 * rollout_status). Pure.
 */
import type { JsonObject } from '../apimachinery/equality.ts';
import { metadataOf, numberAt, recordsAt, textAt, valueAt } from '../apimachinery/fields.ts';
import { parseInt64 } from '../apimachinery/int64.ts';
import { revisionAnnotation } from './revisions.ts';

export interface RolloutState {
  /** kubectl's message. */
  readonly message: string;
  readonly outcome: 'waiting' | 'done' | 'failed';
}

const rules: Readonly<Record<string, (object: JsonObject, revision: bigint) => RolloutState>> = {
  Deployment: deploymentState,
  StatefulSet: statefulSetState,
  DaemonSet: daemonSetState,
};

/**
 * Returns the state. `revision` is the revision that a Deployment must have reached; 0 for any. Throws for a
 * kind without rollouts.
 */
export function rolloutState(object: JsonObject, revision = 0n): RolloutState {
  const rule =
    typeof object.kind === 'string' && Object.hasOwn(rules, object.kind) ? rules[object.kind] : undefined;
  if (!rule) throw new Error(`no status viewer has been implemented for ${String(object.kind)}`);
  return rule(object, revision);
}

const failed = (message: string): RolloutState => ({ message, outcome: 'failed' });
const waiting = (message: string): RolloutState => ({ message, outcome: 'waiting' });
const done = (message: string): RolloutState => ({ message, outcome: 'done' });

const isObserved = (object: JsonObject) =>
  metadataOf(object).generation <= numberAt(object, 'status', 'observedGeneration');

function deploymentState(object: JsonObject, revision: bigint): RolloutState {
  const { name, annotations } = metadataOf(object);
  const of = (field: string) => numberAt(object, 'status', field);
  const running = parseInt64(annotations[revisionAnnotation]) ?? 0n;
  if (revision > 0n && revision !== running)
    return failed(`desired revision (${revision}) is different from the running revision (${running})`);
  if (!isObserved(object)) return waiting('Waiting for deployment spec update to be observed...');
  const progressing = recordsAt(object, 'status', 'conditions').find(({ type }) => type === 'Progressing');
  if (textAt(progressing, 'reason') === 'ProgressDeadlineExceeded')
    return failed(`deployment "${name}" exceeded its progress deadline`);
  const wanted = wantedReplicas(object);
  const [updated, replicas, available] = [of('updatedReplicas'), of('replicas'), of('availableReplicas')];
  const finishing = `Waiting for deployment "${name}" rollout to finish:`;
  if (updated < wanted)
    return waiting(`${finishing} ${updated} out of ${wanted} new replicas have been updated...`);
  if (replicas > updated)
    return waiting(`${finishing} ${replicas - updated} old replicas are pending termination...`);
  if (available < updated)
    return waiting(`${finishing} ${available} of ${updated} updated replicas are available...`);
  return done(`deployment "${name}" successfully rolled out`);
}

/** Returns the wanted replicas; 1 if the field is missing. */
function wantedReplicas(object: JsonObject): number {
  const wanted = valueAt(object, 'spec', 'replicas');
  return typeof wanted === 'number' ? wanted : 1;
}

function statefulSetState(object: JsonObject): RolloutState {
  const of = (field: string) => numberAt(object, 'status', field);
  const strategy = textAt(object, 'spec', 'updateStrategy', 'type');
  if (strategy !== 'RollingUpdate') return notRolling(strategy);
  if (of('observedGeneration') === 0 || !isObserved(object))
    return waiting('Waiting for statefulset spec update to be observed...');
  const wanted = wantedReplicas(object);
  if (of('readyReplicas') < wanted)
    return waiting(`Waiting for ${wanted - of('readyReplicas')} pods to be ready...`);
  const partition = numberAt(object, 'spec', 'updateStrategy', 'rollingUpdate', 'partition');
  const updated = of('updatedReplicas');
  if (partition > 0)
    return updated < wanted - partition
      ? waiting(
          `Waiting for partitioned roll out to finish: ${updated} out of ${wanted - partition} new pods have been updated...`,
        )
      : done(`partitioned roll out complete: ${updated} new pods have been updated...`);
  const revision = textAt(object, 'status', 'updateRevision');
  if (revision !== textAt(object, 'status', 'currentRevision'))
    return waiting(
      `waiting for statefulset rolling update to complete ${updated} pods at revision ${revision}...`,
    );
  return done(
    `statefulset rolling update complete ${of('currentReplicas')} pods at revision ${textAt(object, 'status', 'currentRevision')}...`,
  );
}

function daemonSetState(object: JsonObject): RolloutState {
  const { name } = metadataOf(object);
  const of = (field: string) => numberAt(object, 'status', field);
  const strategy = textAt(object, 'spec', 'updateStrategy', 'type');
  if (strategy !== 'RollingUpdate') return notRolling(strategy);
  if (!isObserved(object)) return waiting('Waiting for daemon set spec update to be observed...');
  const finishing = `Waiting for daemon set "${name}" rollout to finish:`;
  const [updated, wanted] = [of('updatedNumberScheduled'), of('desiredNumberScheduled')];
  if (updated < wanted)
    return waiting(`${finishing} ${updated} out of ${wanted} new pods have been updated...`);
  if (of('numberAvailable') < wanted)
    return waiting(`${finishing} ${of('numberAvailable')} of ${wanted} updated pods are available...`);
  return done(`daemon set "${name}" successfully rolled out`);
}

const notRolling = (strategy: string): RolloutState =>
  failed(`rollout status is only available for RollingUpdate strategy type, not ${strategy || 'none'}`);
