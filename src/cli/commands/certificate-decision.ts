/** Approves or denies a certificate signing request, as `kubectl certificate` does. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { isConflict } from '../../apimachinery/status-error.ts';
import { rfc3339 } from '../../base/time.ts';
import type { Cluster } from '../connection/cluster.ts';
import { writeQuery } from '../flags/write-options.ts';
import type { Io } from '../io.ts';
import { recordAt, recordsAt } from '../objects/objects.ts';
import { type ObjectTarget, targetPath } from '../objects/targets.ts';

export type CertificateDecision = 'approve' | 'deny';

const words = {
  approve: { type: 'Approved', reason: 'KubectlApprove', done: 'approved', not: 'Denied' },
  deny: { type: 'Denied', reason: 'KubectlDeny', done: 'denied', not: 'Approved' },
} as const;

/** Same number of tries as kubectl. */
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
  const { type, reason, done, not } = words[decision];
  for (let tries = 1; ; tries++) {
    const request = await cluster.get(targetPath(target));
    const conditions = conditionsOf(request);
    if (conditions.some((condition) => condition.type === not))
      throw new Error(`certificate signing request ${JSON.stringify(target.name)} is already ${not}`);
    const decided = conditions.some((condition) => condition.type === type);
    if (decided && !force) return done;
    const condition = {
      type,
      status: 'True',
      reason,
      message: `This CSR was ${done} by kubectl certificate ${decision}.`,
      lastUpdateTime: rfc3339(clock.now()),
    };
    const status = {
      ...recordAt(request, 'status'),
      conditions: decided ? conditions : [...conditions, condition],
    };
    try {
      const path = targetPath(target, 'approval') + writeQuery('none');
      await cluster.send('PUT', path, { ...request, status });
      return done;
    } catch (error) {
      if (!isConflict(error) || tries >= maxTries) throw error;
    }
  }
}
