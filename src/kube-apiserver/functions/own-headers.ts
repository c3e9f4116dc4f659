/** Headers by which the cluster speaks to the programs of functions. Of what others send in them only an id counts. Pure. */
import { serviceAccountUserName } from '../../apiserver/user.ts';
import type { RequestHeaders } from '../forwarding/headers.ts';

/** The id of a call: a caller's own, to find it in the logs of the function, or a new one. */
export const callIdHeader = 'function-call-id';

/** Of a call that is made only once, by it an instance answers with what another call got: the cluster's alone (placed-calls.ts). */
export const onceHeader = 'function-once';

/**
 * Whether a header is one of those; `name` in lower case. To programs that get headers as variables (CGI, RFC
 * 3875 §4.1.18, and WSGI), `function_once` is `function-once`.
 */
export const isOwnHeader = (name: string): boolean => /^function[-_]/.test(name);

const deliverer = serviceAccountUserName('kube-system', 'trigger-controller');

/** Who delivers events. What anybody else says of triggers before counts for nothing. */
export const isDeliverer = ({ name }: { readonly name: string }): boolean => name === deliverer;

const longestId = 128;
/** The ids of events; those of tasks are `RUN-UID.TASK`. */
const idOfEvent = /^[0-9a-f]{32}$/i;

/**
 * The id that a caller gives his call; undefined where he gives none, and where it could be one of a task or an event: by that a
 * function that does each thing once would take one for the other.
 */
export function idOfCaller(headers: Pick<RequestHeaders, 'get'>): string | undefined {
  const id = headers.get(callIdHeader)?.trim().slice(0, longestId);
  return id && !id.includes('.') && !idOfEvent.test(id) ? id : undefined;
}

/** The id of a call that came by HTTP; `isDelivery` where it delivers an event. */
export const idOfCall = (headers: Pick<RequestHeaders, 'get'>, isDelivery: boolean): string | undefined =>
  isDelivery ? (headers.get(callIdHeader) ?? undefined) : idOfCaller(headers);
