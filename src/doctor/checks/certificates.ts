/** Checks of this machine's certificates. Pure. */
import { isAddress } from '../../base/addresses.ts';
import { type Check, fault, note, ok, warning } from '../finding.ts';
import type { Situation } from '../situation.ts';

export interface CertificateFacts {
  readonly path: string;
  readonly isAuthority: boolean;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Names and addresses that it serves. */
  readonly hosts: readonly string[];
}

export interface CertificatesFacts {
  readonly certificates: readonly CertificateFacts[];
  /** Paths of files that are no certificates. */
  readonly damaged: readonly string[];
}

const day = 24 * 3600 * 1000;
/** Remaining days below which a leaf was not renewed in time; renewal begins sixty days before the end. */
const lateDays = 30;

export const certificateChecks: readonly Check<CertificatesFacts, Situation>[] = [
  {
    name: 'certificate-expiry',
    find: ({ certificates }, { now, restart }) =>
      certificates.map(({ path, isAuthority, notBefore, notAfter }) => {
        const days = Math.floor((notAfter - now) / day);
        const mend = isAuthority ? undefined : restart;
        const why = isAuthority
          ? 'no certificate of the cluster is valid without its authority'
          : 'minik8s renews it at its start';
        if (now < notBefore)
          return fault(
            `${path} is valid only from ${date(notBefore)}`,
            'the clock is behind',
            'timedatectl set-ntp true',
          );
        if (now > notAfter) return fault(`${path} expired on ${date(notAfter)}`, why, mend);
        const found = `${path} is valid for ${days} days`;
        return days < lateDays ? warning(found, why, mend) : ok(found);
      }),
  },
  {
    name: 'certificate-names',
    find: ({ certificates }, { nodeIP, restart }) =>
      certificates
        .filter(
          ({ path, hosts }) =>
            path.endsWith('/apiserver.crt') &&
            nodeIP !== undefined &&
            isAddress(nodeIP) &&
            !hosts.includes(nodeIP),
        )
        .map(({ path }) =>
          note(`${path} does not name ${nodeIP}`, 'clients that use that address refuse it', restart),
        ),
  },
  {
    name: 'certificate-files',
    find: ({ damaged }, { restart }) =>
      damaged.map((path) => fault(`${path} is no certificate`, 'minik8s makes it again', restart)),
  },
];

const date = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
