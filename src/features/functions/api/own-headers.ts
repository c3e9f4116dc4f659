/**
 * Headers between the cluster and the programs of functions. Of these headers, other clients may set only the
 * id of a call. Pure.
 */
import { serviceAccountUserName } from '../../../apimachinery/account-user.ts';

/**
 * Header with the id of a call: the caller's own, to find the call in the logs of the function, or a new one.
 */
export const callIdHeader = 'function-call-id';

/**
 * Header of a call that is made only once, for which an instance returns the answer of an earlier call with
 * this id; only the cluster may set it (placed-calls.ts).
 */
export const onceHeader = 'function-once';

/**
 * Returns whether a header of this name (in lower case) is one between the cluster and programs. Underscores
 * match too, because programs that receive headers as variables (CGI, RFC 3875 §4.1.18, and WSGI) cannot
 * distinguish `function_once` from `function-once`.
 */
export const isOwnHeader = (name: string): boolean => /^function[-_]/.test(name);

/** Account of the trigger controller, which delivers events. */
const deliverer = serviceAccountUserName('kube-system', 'trigger-controller');

/** Headers of a call. */
interface CallHeaders {
  get(name: string): string | null | undefined;
}

/** Returns whether the user delivers events. Trigger headers of any other user are ignored. */
export const isDeliverer = ({ name }: { readonly name: string }): boolean => name === deliverer;

const maxIdLength = 128;
/** Ids of events; the ids of tasks are `RUN-UID.TASK`. */
const idOfEvent = /^[0-9a-f]{32}$/i;

/**
 * Returns the id that a caller gives its call; undefined if there is none, or if it could be the id of a task
 * or an event: an instance that makes each call only once would take both for the same call.
 */
export function idOfCaller(headers: CallHeaders): string | undefined {
  const id = headers.get(callIdHeader)?.trim().slice(0, maxIdLength);
  return id && !id.includes('.') && !idOfEvent.test(id) ? id : undefined;
}

/** Returns the id of a call by HTTP; `isDelivery` is true if it delivers an event. */
export const idOfCall = (headers: CallHeaders, isDelivery: boolean): string | undefined =>
  isDelivery ? (headers.get(callIdHeader) ?? undefined) : idOfCaller(headers);
