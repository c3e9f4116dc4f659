/**
 * Impersonation (`kubectl --as`) is not supported yet. A request for it must not be answered with the rights of the
 * caller: he would take them for the rights of the other user.
 */
import { newStatusError } from '../../apimachinery/status-error.ts';
import { parseRequestInfo } from '../request-info.ts';
import { type Headers as Fields, respondText } from '../respond.ts';

const prefix = 'impersonate-';

/**
 * The refusal when a header asks for it, whichever of Kubernetes' (user, group, uid, extra) it is; for a resource it is thrown,
 * as a Status. What is no resource is answered in text: of a Status kubectl's discovery shows its user nothing.
 */
export function refuseImpersonation(
  names: Iterable<string>,
  path: () => string,
  fields: () => Fields,
): Response | undefined {
  const name = Iterator.from(names).find((key) => key.startsWith(prefix));
  if (name === undefined) return undefined;
  const why = `impersonation is not supported: send the request without the header ${name} (kubectl: without --as, --as-group and --as-uid)`;
  if (parseRequestInfo(path()).type === 'path') return respondText(403, `${why}\n`, fields());
  throw newStatusError('Forbidden', why);
}
