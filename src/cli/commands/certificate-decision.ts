/** Approves or denies a certificate signing request, as `kubectl certificate` does. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { isConflict } from '../../apimachinery/status-error.ts';
import { rfc3339 } from '../../base/time.ts';
import type { Cluster } from '../connection/cluster.ts';
import { writeQuery } from '../flags/write-options.ts';
import type { Io } from '../io.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { recordAt, recordsAt } from '../objects/objects.ts';

export type CertificateDecision = 'approve' | 'deny';

const words = {
  approve: { type: 'Approved', reason: 'KubectlApprove', done: 'approved', not: 'Denied' },
  deny: { type: 'Denied', reason: 'KubectlDeny', done: 'denied', not: 'Approved' },
} as const;

/** Maximum number of tries, as in kubectl. */
const maxTries = 10;

export const conditionsOf = (request: JsonObject) => recordsAt(request, 'status', 'conditions');

/**
 * Resolves to `approved` or `denied`; an equal earlier decision is kept unless forced. Rejects if the
 * opposite decision was made.
 */
export async function decide(
  cluster: Cluster,
  { clock }: Pick<Io, 'clock'>,
  target: ObjectTarget,
  decision: CertificateDecision,
  force = false,
): Promise<string> {
  const { done } = words[decision];
  for (let tries = 1; ; tries++) {
    const request = await cluster.get(targetPath(target));
    const isDecided = alreadyDecided(request, target.name, decision);
    if (isDecided && !force) return done;
    const status = statusAfter(request, decision, clock);
    try {
      const path = targetPath(target, 'approval') + writeQuery('none');
      await cluster.send('PUT', path, { ...request, status });
      return done;
    } catch (error) {
      if (!isConflict(error) || tries >= maxTries) throw error;
    }
  }
}

/** Returns true if the request has this decision. Throws an Error if it has the opposite one. */
function alreadyDecided(request: JsonObject, name: string, decision: CertificateDecision): boolean {
  const { type, not } = words[decision];
  const conditions = conditionsOf(request);
  if (conditions.some((condition) => condition.type === not))
    throw new Error(`certificate signing request ${JSON.stringify(name)} is already ${not}`);
  return conditions.some((condition) => condition.type === type);
}

function conditionOf(decision: CertificateDecision, clock: Io['clock']): JsonObject {
  const { type, reason, done } = words[decision];
  return {
    type,
    status: 'True',
    reason,
    message: `This CSR was ${done} by kubectl certificate ${decision}.`,
    lastUpdateTime: rfc3339(clock.now()),
  };
}

/** Returns the request's status with the decision's condition; an equal earlier condition is kept. */
function statusAfter(request: JsonObject, decision: CertificateDecision, clock: Io['clock']): JsonObject {
  const conditions = conditionsOf(request);
  const isDecided = conditions.some(({ type }) => type === words[decision].type);
  return {
    ...recordAt(request, 'status'),
    conditions: isDecided ? conditions : [...conditions, conditionOf(decision, clock)],
  };
}
