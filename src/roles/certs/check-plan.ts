/** Decides which certificates of a machine need attention, and which command mends each. */

/**
 * Holder of a certificate: the cluster's authority, that of the front proxy, a leaf or kubeconfig that the
 * master writes, the authority that a node trusts, a certificate that a node requests, or a kubeconfig of
 * another user.
 */
export type Holder = 'authority' | 'front-proxy' | 'master' | 'node-trust' | 'node' | 'user';

export interface CertificateContent {
  /** Parts such as `CN=kubernetes-admin`, in the order of the certificate. */
  readonly subject: readonly string[];
  /** DNS names and IP addresses. */
  readonly names: readonly string[];
  readonly issuer: readonly string[];
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** True if the certificate is this machine's authority, or signed by it; undefined without an authority. */
  readonly isOfCluster: boolean | undefined;
  /** Undefined if the certificate is stored without a key. */
  readonly fitsKey: boolean | undefined;
}

export interface FoundCertificate {
  readonly path: string;
  /** Entry of a kubeconfig, such as `user anna`. */
  readonly entry?: string;
  readonly holder: Holder;
  /** Undefined if the file does not hold a certificate that can be read. */
  readonly content: CertificateContent | undefined;
}

export interface CheckedCertificate {
  readonly path: string;
  readonly entry?: string;
  readonly subject: string;
  readonly names: readonly string[];
  readonly issuer: string;
  /** RFC 3339; absent if the certificate cannot be read. */
  readonly notBefore?: string;
  readonly notAfter?: string;
  /** Days until the end, rounded down; negative after the end. */
  readonly daysLeft?: number;
  readonly renewedBy: string;
  /** Absent if the certificate is in order. */
  readonly problem?: string;
  /** Command, or sentence with commands, that mends the problem. */
  readonly remedy?: string;
}

export interface CheckTerms {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Certificates that end within this number of days need attention. */
  readonly withinDays: number;
  /** Command that restarts minik8s on this machine. */
  readonly restart: string;
}

const day = 24 * 3600 * 1000;

const renewedBy: Readonly<Record<Holder, string>> = {
  authority: 'minik8s certs rotate-ca (valid for ten years)',
  'front-proxy': 'minik8s certs rotate-ca (valid for ten years)',
  master: 'the master, at its start and 60 days before the end',
  'node-trust': 'the node, from the masters',
  node: 'the node, when 10 to 30 % of the validity is left',
  user: 'nobody',
};

type Fault = 'damaged' | 'early' | 'over' | 'soon' | 'foreign' | 'no-key';

/** Returns the certificates in the given order, each with its problem if it has one. */
export const checkCertificates = (
  found: readonly FoundCertificate[],
  terms: CheckTerms,
): CheckedCertificate[] => found.map((certificate) => checked(certificate, terms));

function checked(certificate: FoundCertificate, terms: CheckTerms): CheckedCertificate {
  const { path, entry, holder, content } = certificate;
  const fault = faultOf(content, terms);
  return {
    path,
    ...(entry !== undefined && { entry }),
    subject: content?.subject.join(', ') ?? '',
    names: content?.names ?? [],
    issuer: content?.issuer.join(', ') ?? '',
    ...(content && {
      notBefore: new Date(content.notBefore).toISOString(),
      notAfter: new Date(content.notAfter).toISOString(),
      daysLeft: Math.floor((content.notAfter - terms.now) / day),
    }),
    renewedBy: renewedBy[holder],
    ...(fault && { problem: problemOf(fault, terms), remedy: remedyOf(certificate, fault, terms) }),
  };
}

function faultOf(
  content: CertificateContent | undefined,
  { now, withinDays }: CheckTerms,
): Fault | undefined {
  if (!content) return 'damaged';
  if (content.fitsKey === false) return 'no-key';
  if (content.isOfCluster === false) return 'foreign';
  if (content.notAfter <= now) return 'over';
  if (content.notBefore > now) return 'early';
  return content.notAfter - now <= withinDays * day ? 'soon' : undefined;
}

function problemOf(fault: Fault, { withinDays, now }: CheckTerms): string {
  const problems: Readonly<Record<Fault, string>> = {
    damaged: 'it cannot be read',
    'no-key': 'its key is missing, damaged or the key of another certificate',
    foreign: "it is not signed by this cluster's authority",
    over: 'it has expired',
    early: `it is not valid yet by the clock of this machine (${new Date(now).toISOString()})`,
    soon: `it expires within ${withinDays} days`,
  };
  return problems[fault];
}

function remedyOf(certificate: FoundCertificate, fault: Fault, { restart }: CheckTerms): string {
  if (fault === 'early') return `set the clock (timedatectl set-ntp true), and run ${restart}`;
  return remedies[certificate.holder](certificate, fault, restart);
}

const joinAgain = 'put the lines of minik8s token create into the configuration file of the node';

const restored = (path: string, restart: string) =>
  `restore ${path} and its key from a backup (minik8s backup list), and run ${restart}`;

const authorityRemedies: Partial<Record<Fault, (path: string, restart: string) => string>> = {
  'no-key': restored,
  damaged: restored,
  soon: () => 'minik8s certs rotate-ca',
};

type Remedy = (certificate: FoundCertificate, fault: Fault, restart: string) => string;

const remedies: Readonly<Record<Holder, Remedy>> = {
  authority: ({ path }, fault, restart) =>
    authorityRemedies[fault]?.(path, restart) ??
    `stop minik8s, rm ${path} ${path.replace(/crt$/, 'key')}, and start it; then every node and user needs a new certificate`,
  // All masters have this authority in etcd.
  'front-proxy': ({ path }, fault, restart) =>
    fault === 'soon' || fault === 'over'
      ? 'minik8s certs rotate-ca'
      : `rm -r ${path.replace(/\/[^/]*$/, '')}, and run ${restart}`,
  master: (_certificate, _fault, restart) => restart,
  'node-trust': ({ path }, _fault, restart) =>
    `rm -r ${path.replace(/\/[^/]*$/, '')}, ${joinAgain}, and run ${restart}`,
  node: (_certificate, fault, restart) =>
    fault === 'soon' || fault === 'over' ? restart : `${joinAgain}, and run ${restart}`,
  user: ({ path, content }) =>
    `mv ${path} ${path}.old, and on a master minik8s user create ${userOf(content)} --file ${path}`,
};

const userOf = (content: CertificateContent | undefined) =>
  content?.subject.find((part) => part.startsWith('CN='))?.slice('CN='.length) ?? 'NAME';
