/** The course of one certificate of a pod, from the first request to its renewals. Pure. */
import { outcomeOf } from '../../../api/certificates/v1/pod-certificate-outcome.ts';
import type { PodCertificateRequest } from '../../../api/certificates/v1/pod-certificate-request.ts';
import type { Condition } from '../../../api/meta/v1/types.gen.ts';
import { pemBlocks, pemText } from '../../../formats/pem.ts';

const minute = 60_000;
/** Time after `refreshAt` from which a certificate counts as overdue. */
export const overdueAfterMs = 10 * minute;
/** Maximum delay of a renewal, so that not all pods request one at once. */
export const maxJitterMs = 5 * minute;
/** Time after which a request counts as deleted if the watch has never shown it. */
const abandonAfterMs = 10 * minute;
/** Minimum time between two requests, so that requests that are always deleted are not many. */
const spacingMs = minute;

/** A certificate and its private key (PKCS #8), both PEM. Times are in milliseconds since the epoch. */
export interface HeldCertificate {
  readonly key: string;
  readonly chain: string;
  readonly refreshAt: number;
  readonly notAfter: number;
}

/** A request whose answer is awaited. */
export interface PendingRequest {
  readonly name: string;
  /** The private key (PEM) for which the certificate is requested. */
  readonly key: string;
  /** Time of the request in milliseconds since the epoch. */
  readonly since: number;
  /** True once the watch has shown the request; its absence then means that it was deleted. */
  readonly wasSeen: boolean;
}

export interface Refusal {
  readonly type: 'Denied' | 'Failed';
  readonly request: string;
  readonly reason: string;
  readonly message: string;
}

export interface CertificateState {
  readonly held?: HeldCertificate;
  readonly pending?: PendingRequest;
  /** The signer's refusal, which is final. */
  readonly refusal?: Refusal;
  /** Time before which no request is made: the last one was deleted. In milliseconds since the epoch. */
  readonly idleUntil?: number;
}

/**
 * Returns the state after the request is as `found`; undefined if the watch does not show it. `jitterMs`
 * delays the renewal of a new certificate. Returns the same object if nothing changes.
 */
export function advanced(
  state: CertificateState,
  found: PodCertificateRequest | undefined,
  now: number,
  jitterMs: number,
): CertificateState {
  const { pending } = state;
  if (!pending) return state;
  if (!found) return withoutRequest(state, pending, now);
  const outcome = outcomeOf(found);
  if (!outcome) return pending.wasSeen ? state : { ...state, pending: { ...pending, wasSeen: true } };
  if (outcome.type === 'Issued') return { held: heldBy(pending.key, found, jitterMs) };
  return { ...heldIn(state), refusal: refusalOf(pending.name, outcome) };
}

/** Returns the state when the watch does not show the request. */
function withoutRequest(state: CertificateState, pending: PendingRequest, now: number): CertificateState {
  const isGone = pending.wasSeen || now > pending.since + abandonAfterMs;
  return isGone ? { ...heldIn(state), idleUntil: pending.since + spacingMs } : state;
}

const heldIn = ({ held }: CertificateState) => (held ? { held } : {});

function refusalOf(request: string, { type, reason = '', message = '' }: Condition): Refusal {
  return { type: type === 'Denied' ? 'Denied' : 'Failed', request, reason, message };
}

function heldBy(key: string, { status }: PodCertificateRequest, jitterMs: number): HeldCertificate {
  const { certificateChain = '', beginRefreshAt = '', notAfter = '' } = status ?? {};
  const chain = Array.from(pemBlocks(certificateChain), ({ bytes }) => pemText('CERTIFICATE', bytes));
  return {
    key,
    chain: chain.join(''),
    refreshAt: Date.parse(beginRefreshAt) + jitterMs,
    notAfter: Date.parse(notAfter),
  };
}

/** Returns whether a certificate must be requested: the first one, or the next one. */
export const needsRequest = (state: CertificateState, now: number): boolean =>
  !state.pending && !state.refusal && now >= Math.max(state.held?.refreshAt ?? 0, state.idleUntil ?? 0);

/** A warning about a certificate that was not renewed in time. */
export interface LateWarning {
  readonly at: number;
  readonly reason: 'CertificateOverdueForRefresh' | 'CertificateExpired';
  readonly message: string;
}

/** Returns the warnings that a certificate deserves at some time, in their order. */
export const lateWarnings = ({ refreshAt, notAfter }: HeldCertificate): readonly LateWarning[] => [
  {
    at: refreshAt + overdueAfterMs,
    reason: 'CertificateOverdueForRefresh',
    message: 'PodCertificate refresh overdue',
  },
  { at: notAfter, reason: 'CertificateExpired', message: 'PodCertificate expired' },
];

/** Returns why there is no certificate yet, in upstream's words. */
export function absence({ refusal }: CertificateState): string {
  if (!refusal) return 'credential bundle is not issued yet';
  const { type, reason, message } = refusal;
  const how = `reason=${JSON.stringify(reason)} message=${JSON.stringify(message)}`;
  return `PodCertificateRequest was permanently ${type.toLowerCase()}: ${how}`;
}

/** Returns the state of a certificate in metrics, as upstream names it. */
export function metricState({ held, refusal }: CertificateState, now: number): string {
  if (refusal) return refusal.type.toLowerCase();
  if (!held) return 'not_yet_issued';
  if (now > held.notAfter) return 'expired';
  return now > held.refreshAt + overdueAfterMs ? 'overdue_for_refresh' : 'fresh';
}
