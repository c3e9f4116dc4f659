/**
 * Fields of certificate signing requests that the server sets, overriding the body (upstream: the strategy of
 * the kind).
 */
import { transitionTime } from '../../../apimachinery/conditions.ts';
import { deepCopy } from '../../../apimachinery/equality.ts';
import type { WriteContext } from '../../../apimachinery/resource-definition.ts';
import type { CertificateSigningRequest } from './types.gen.ts';

/** Sets the requester to the authenticated user. Mutates `spec`. */
export function writeRequester({ spec }: CertificateSigningRequest, { user }: WriteContext): void {
  for (const field of ['username', 'uid', 'groups', 'extra'] as const) delete spec[field];
  spec.username = user.name;
  spec.groups = [...user.groups];
  if (user.uid) spec.uid = user.uid;
  if (user.extra) spec.extra = deepCopy(user.extra) as Record<string, string[]>;
}

/** Prepares a status update; an approval only changes the conditions. Mutates `request`. */
export function prepareStatus(
  request: CertificateSigningRequest,
  old: CertificateSigningRequest,
  { now, subresource }: WriteContext,
): void {
  if (subresource === 'approval') {
    const { conditions: _, ...rest } = old.status ?? {};
    const conditions = request.status?.conditions;
    request.status = { ...rest, ...(conditions && { conditions }) };
  }
  stampConditions(request, old, now);
}

/**
 * Sets missing times of conditions to the server's; a condition with an unchanged status keeps its transition
 * time.
 */
function stampConditions(
  request: CertificateSigningRequest,
  old: CertificateSigningRequest,
  now: string,
): void {
  // The first of several conditions of one type counts.
  const known = new Map(old.status?.conditions?.toReversed().map((condition) => [condition.type, condition]));
  for (const condition of request.status?.conditions ?? []) {
    const before = known.get(condition.type);
    condition.lastUpdateTime ??= now;
    condition.lastTransitionTime ??= transitionTime(before, condition.status, now);
  }
}
