/**
 * The id of a request, which identifies it in the logs of all components: the Audit-ID header of its client,
 * or a generated one (k8s.io/apiserver pkg/endpoints/filters/request_id). The id is in the answer, and is
 * forwarded with requests to kubelets.
 */

import type { Random } from '../../base/random.ts';
import { auditIdHeader, readAuditId } from '../../http/audit-id.ts';
import type { AskedRequest } from '../transport/asked-request.ts';

const ids = new WeakMap<Pick<AskedRequest, 'headers'>, string>();

/** Returns the id of the request; the same on each call. */
export function auditIdOf(request: Pick<AskedRequest, 'headers'>, random: Random): string {
  const known = ids.get(request);
  if (known !== undefined) return known;
  const id = readAuditId(request.headers.get(auditIdHeader)) ?? random.uuid();
  ids.set(request, id);
  return id;
}

/** Returns the headers with the id, for the answer and for requests to others on behalf of this request. */
export const auditHeaders = (
  request: Pick<AskedRequest, 'headers'>,
  random: Random,
): Readonly<Record<string, string>> => ({ [auditIdHeader]: auditIdOf(request, random) });
