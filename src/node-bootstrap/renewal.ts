/**
 * Certificates that are renewed while they are in use: well before they expire, and not on all nodes at once.
 */
import { X509Certificate } from 'node:crypto';
import { Backoff } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import type { Current, Replaceable } from '../base/current.ts';
import { keepDoing, retry, Wake } from '../base/keep-doing.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import { signerOf } from '../os/certificate-bundle.ts';
import type { KeyAndCertificate } from '../pki/x509.ts';

export interface RenewalOptions {
  /** The certificate in use; it is renewed at once while there is none. */
  readonly identity: Replaceable<KeyAndCertificate> | Replaceable<KeyAndCertificate | undefined>;
  /** PEM of the authority that should have signed the certificate; it is renewed at once if another has. */
  readonly issuer?: Current<string | undefined>;
  /** Resolves to the next certificate, which then replaces the one in use. */
  readonly renew: (signal: AbortSignal) => Promise<KeyAndCertificate>;
  /** Name such as `client certificate`, for the log. */
  readonly what: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

const day = 24 * 3600 * 1000;
/**
 * Minimum interval between renewals in milliseconds. With a clock that is far ahead, every new certificate
 * would be due at once.
 */
const minMs = 60_000;

/**
 * Returns the time at which a certificate is due, in milliseconds since the epoch: at 70 to 90 % of its
 * lifetime, as in the kubelet.
 */
export function renewalTime({ certificate }: KeyAndCertificate, random: Random): number {
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
  return from + (to - from) * (0.7 + 0.2 * random.next());
}

/** Resolves when the signal aborts; a failed renewal is retried without limit. */
export async function keepRenewed(options: RenewalOptions, signal: AbortSignal): Promise<void> {
  const { identity, issuer, clock, random } = options;
  const dueFrom = (earliest: number) =>
    identity.value && isOf(identity.value, issuer?.value)
      ? Math.max(renewalTime(identity.value, random), earliest)
      : earliest;
  let due = dueFrom(clock.now());
  const wake = new Wake();
  const forget = issuer?.onChange(() => {
    due = Math.min(due, dueFrom(clock.now()));
    wake.call();
  });
  await keepDoing({ clock, signal, wake }, async () => {
    const left = due - clock.now();
    // Rests a day at a time: timers cannot wait for months, and the clock may be set meanwhile.
    if (left > 0) return Math.min(left, day);
    await replace(options, signal);
    due = dueFrom(clock.now() + minMs);
    return 0;
  });
  forget?.();
}

const isOf = ({ certificate }: KeyAndCertificate, issuer: string | undefined) =>
  issuer === undefined || signerOf(new X509Certificate(certificate), issuer) !== undefined;

async function replace(options: RenewalOptions, signal: AbortSignal): Promise<void> {
  const { identity, renew, what, clock, random, log } = options;
  const backoff = new Backoff({ initialMs: 1_000, maxMs: 300_000 }, random);
  const onError = (error: unknown, ms: number) => {
    const retryMs = Math.round(ms);
    log.warn(`the ${what} could not be renewed; trying again`, { error: errorMessage(error), retryMs });
  };
  await retry({ clock, signal, backoff, onError }, async () => {
    const next = await renew(signal);
    const until = new X509Certificate(next.certificate).validToDate.toISOString();
    log.info(`the ${what} was ${identity.value ? 'renewed' : 'issued'}`, { until });
    identity.replace(next);
  });
}
