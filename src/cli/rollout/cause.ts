/** Why a rollout stands still, in one line, by the rules of `ctl why`. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { type KindKey, keyOfKind, nameOf } from '../../why/kinds.ts';
import { type Finding, severities } from '../../why/rule.ts';
import type { RuleBook } from '../../why/rule-book.ts';
import { refOf, Snapshot } from '../../why/snapshot.ts';
import { metadataOf, textAt } from '../objects/objects.ts';
import { causeLine } from '../why/cause-line.ts';

/** A workload, its pods, and the events about them as far as they are known. */
export interface Rollout {
  readonly workload: JsonObject;
  readonly pods: readonly JsonObject[];
  readonly events?: readonly JsonObject[];
  readonly nowMs: number;
}

/**
 * Returns the first cause: why pods of the workload are not created, or else what is wrong with a pod. The
 * worst finding comes first; among equally bad ones that of the newest pod, for which the rollout waits.
 * Undefined if nothing is known.
 */
export const rolloutCause = (rollout: Rollout, book: RuleBook): string | undefined =>
  firstCause(rollout, book, () => true);

/** Returns the first cause like rolloutCause, but ignores pods that are merely not ready yet. */
export const standstillCause = (rollout: Rollout, book: RuleBook): string | undefined =>
  firstCause(rollout, book, ({ severity }) => severity === 'broken');

function firstCause(
  { workload, pods, events, nowMs }: Rollout,
  book: RuleBook,
  counts: (finding: Finding) => boolean,
): string | undefined {
  const seen = new Snapshot({ nowMs, objects: { pods, ...(events && { events }) } });
  const refused = book.find(creatorOf(workload), workload, seen);
  if (refused?.rule === 'workload-refused') return causeLine(refused.finding);
  const created = (pod: JsonObject) => metadataOf(pod).creationTimestamp ?? '';
  const found = pods
    .toSorted((a, b) => (created(a) < created(b) ? 1 : created(a) > created(b) ? -1 : 0))
    .flatMap((pod) => {
      const finding = book.find('pods', pod, seen)?.finding;
      return finding && counts(finding) ? [{ pod, finding }] : [];
    });
  const rank = ({ finding }: { readonly finding: Finding }) => severities.indexOf(finding.severity);
  const [worst] = found.toSorted((a, b) => rank(a) - rank(b));
  return worst && `${nameOf(refOf('pods', worst.pod))}: ${causeLine(worst.finding)}`;
}

/** Returns the kind that creates the pods: a Deployment repeats the condition of its ReplicaSet. */
function creatorOf(workload: JsonObject): KindKey {
  const key = keyOfKind(textAt(workload, 'kind'));
  return key === undefined || key === 'deployments.apps' ? 'replicasets.apps' : key;
}
