/**
 * The id of a request, by which it is found in the logs of all components: what its client sends as Audit-ID, or one of ours
 * (k8s.io/apiserver pkg/endpoints/filters/request_id). It is in the answer, and goes along where an agent is asked.
 */
import { auditIdHeader, readAuditId } from '../base/audit-id.ts';
import type { Random } from '../base/random.ts';
import type { AskedRequest } from './asked-request.ts';

const ids = new WeakMap<Pick<AskedRequest, 'headers'>, string>();

/** The same each time for one request. */
export function auditIdOf(request: Pick<AskedRequest, 'headers'>, random: Random): string {
  const known = ids.get(request);
  if (known !== undefined) return known;
  const id = readAuditId(request.headers.get(auditIdHeader)) ?? random.uuid();
  ids.set(request, id);
  return id;
}

/** For the answer, and for what is asked of others because of the request. */
export const auditHeaders = (
  request: Pick<AskedRequest, 'headers'>,
  random: Random,
): Readonly<Record<string, string>> => ({ [auditIdHeader]: auditIdOf(request, random) });
