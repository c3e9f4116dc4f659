/**
 * The rotation of the cluster's authority, as data. Its phases:
 *
 *   trust    the next authority exists, and is trusted beside the former one
 *   issue    the next authority signs; certificates of clients and nodes are issued again, while the API
 *            server keeps the certificate of the former one, which every client trusts
 *   finish   the former authority is no longer trusted, and the API server gets a certificate of the next
 *
 * The phase only changes in this order, so that a master may be killed at any time and go on.
 */
import { X509Certificate } from 'node:crypto';
import { authorityHash } from './authority-hash.ts';
import { isAuthority } from './key-pair.ts';
import type { KeyAndCertificate } from './x509.ts';

export const rotationPhases = ['trust', 'issue', 'finish'] as const;
export type RotationPhase = (typeof rotationPhases)[number];

export interface RotationRecord {
  readonly phase: RotationPhase;
  readonly next: KeyAndCertificate;
  /** Hash of the authority that the next one replaces. */
  readonly former: string;
}

/** The authorities that a master works with. */
export interface Authorities {
  /** Signs certificates of clients and nodes. */
  readonly signer: KeyAndCertificate;
  /** Signs the certificate of the API server. */
  readonly server: KeyAndCertificate;
  /** Certificates (PEM) of the authorities that are trusted, that of the API server's certificate first. */
  readonly trusted: string;
}

/** Returns the authority that replaces this one, if the rotation of it has ended; otherwise this one. */
export const adopted = (own: KeyAndCertificate, record: RotationRecord | undefined): KeyAndCertificate =>
  record?.phase === 'finish' && authorityHash(own.certificate) === record.former ? record.next : own;

export function authoritiesOf(own: KeyAndCertificate, record: RotationRecord | undefined): Authorities {
  const server = adopted(own, record);
  const isUnderWay = record !== undefined && record.phase !== 'finish';
  if (!isUnderWay) return { signer: server, server, trusted: server.certificate };
  return {
    signer: record.phase === 'issue' ? record.next : server,
    server,
    trusted: `${server.certificate.trim()}\n${record.next.certificate.trim()}\n`,
  };
}

/** Throws an Error for a text that is not a record. */
export function parseRotation(text: string): RotationRecord {
  try {
    const { phase, next, former } = JSON.parse(text);
    const { key, certificate } = next;
    const pair = { key, certificate };
    if (rotationPhases.includes(phase) && typeof former === 'string' && isAuthority(pair))
      return { phase, next: pair, former };
  } catch {
    // Reported below, without the content, which has a key.
  }
  throw new Error('the record of the rotation of the authority is damaged');
}

/** A node, as its own annotations show it. */
export interface RotatingNode {
  readonly name: string;
  /** Hashes of the authorities that the node trusts. */
  readonly trusts: readonly string[];
  /** Hashes of the authorities that have signed the certificates of the node. */
  readonly issuers: readonly string[];
}

export type Standing =
  | 'does not trust the next authority'
  | 'has certificates of the former authority'
  | 'done';

export function standingOf({ trusts, issuers }: RotatingNode, next: string): Standing {
  if (!trusts.includes(next)) return 'does not trust the next authority';
  return issuers.length > 0 && issuers.every((issuer) => issuer === next)
    ? 'done'
    : 'has certificates of the former authority';
}

export type Step = RotationPhase;

/** Returns why the step is refused, in one line; undefined if it may be done, or has been done already. */
export function refusalOf(
  step: Step,
  record: RotationRecord | undefined,
  nodes: readonly RotatingNode[],
): string | undefined {
  if (step === 'trust') return undefined;
  if (!record) return 'no rotation of the authority is under way: begin with minik8s certs rotate-ca';
  if (record.phase === step) return undefined;
  if (record.phase === 'finish') return 'the rotation of the authority has ended';
  if (step === 'finish' && record.phase === 'trust')
    return 'the next authority does not sign yet: run minik8s certs rotate-ca first';
  const next = authorityHash(record.next.certificate);
  const late = nodes.flatMap((node) => {
    const standing = standingOf(node, next);
    const waits = step === 'issue' ? standing === 'does not trust the next authority' : standing !== 'done';
    return waits ? [`${node.name} ${standing}`] : [];
  });
  return late.length === 0
    ? undefined
    : `not all nodes have followed: ${late.join(', ')}; start them, delete their Nodes, or give --force`;
}

/** Returns the record after a step that was not refused. `make` creates the next authority. */
export async function recordAfter(
  step: Step,
  record: RotationRecord | undefined,
  own: KeyAndCertificate,
  make: () => Promise<KeyAndCertificate>,
): Promise<RotationRecord> {
  const isUnderWay = record !== undefined && record.phase !== 'finish';
  if (step === 'trust' || !record)
    return isUnderWay
      ? record
      : { phase: 'trust', next: await make(), former: authorityHash(own.certificate) };
  return { ...record, phase: step };
}

/** Returns the hash of the authority of the bundle that has signed the certificate; '' if none has. */
export function issuerHash(certificate: string, bundle: readonly X509Certificate[]): string {
  const parsed = new X509Certificate(certificate);
  const signer = bundle.find((authority) => parsed.verify(authority.publicKey));
  return signer ? authorityHash(signer.toString()) : '';
}
