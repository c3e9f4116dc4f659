/** Checks the certificates with which a signer answers a PodCertificateRequest. */
import { X509Certificate } from 'node:crypto';
import type { PodCertificateRequest } from '../../api/certificates/v1/pod-certificate-request.ts';
import { chainPath } from '../../api/certificates/v1/pod-certificate-validation.ts';
import { invalidCause, invalidTogetherCause, requiredCause } from '../../apimachinery/field-error.ts';
import type { StatusCause } from '../../apimachinery/status-error.ts';
import type { Steps } from '../../apimachinery/steps.ts';
import { goDuration } from '../../base/time.ts';
import { readCertificate } from '../../formats/certificate-names.ts';
import { childrenOf, readDer, tags } from '../../formats/der.ts';
import { type PemBlock, pemBlocks } from '../../formats/pem.ts';
import { subjectAltName } from '../../formats/request-content.ts';
import { requestedKey } from './pod-certificate-key.ts';

const minute = 60_000;
const hour = 60 * minute;
/** Maximum distance of `notBefore` from the clock of the API server. */
const maxSkew = 5 * minute;
/** Minimum time between `beginRefreshAt` and each end of the validity. */
const refreshMargin = 10 * minute;

const timePaths = {
  notBefore: 'status.notBefore',
  notAfter: 'status.notAfter',
  beginRefreshAt: 'status.beginRefreshAt',
} as const;

/**
 * Returns the causes in the status of an issued request; `now` is in milliseconds since the epoch. Other
 * requests get a turn between two certificates.
 */
export function* chainCauses(request: PodCertificateRequest, now: number): Steps<StatusCause[]> {
  const chain = request.status?.certificateChain ?? '';
  const [first, ...rest] = pemBlocks(chain);
  const causes = leafCauses(request, first, now);
  yield;
  for (const block of causes.length > 0 ? [] : rest) {
    const why = intermediateFault(block);
    if (why !== undefined) return [invalidCause(chainPath, chain, why)];
    yield;
  }
  return causes;
}

const onlyCertificates = 'issued certificate chain must consist entirely of CERTIFICATE PEM blocks';

function intermediateFault(block: PemBlock): string | undefined {
  if (!isCertificate(block)) return onlyCertificates;
  return certificateOf(block.bytes) ? undefined : 'intermediate certificate does not parse as valid X.509';
}

function leafCauses(request: PodCertificateRequest, block: PemBlock | undefined, now: number): StatusCause[] {
  const wrong = (why: string) => [invalidCause(chainPath, request.status?.certificateChain ?? '', why)];
  if (!block) return wrong('issued certificate chain must contain at least one certificate');
  if (!isCertificate(block)) return wrong(onlyCertificates);
  const leaf = leafOf(block.bytes);
  if (!leaf) return wrong('leaf certificate does not parse as valid X.509');
  const causes = [...nameCauses(leaf), ...keyCauses(request, leaf), ...missingTimes(request)];
  const mistimed = causes.length > 0 ? undefined : timeCause(request, leaf, now);
  return mistimed ? [mistimed] : causes;
}

const isCertificate = ({ type }: PemBlock) => type === 'CERTIFICATE';

interface Leaf {
  readonly certificate: X509Certificate;
  readonly dnsNames: readonly string[];
  readonly emailAddresses: readonly string[];
}

function certificateOf(bytes: Uint8Array): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes);
  } catch {
    return undefined;
  }
}

/** Tags of the alternative names that are checked (RFC 5280 §4.2.1.6). */
const [emailTag, dnsTag] = [0x81, 0x82];

function leafOf(bytes: Uint8Array): Leaf | undefined {
  const certificate = certificateOf(bytes);
  if (!certificate) return undefined;
  try {
    const names = readCertificate(bytes).extensions.get(subjectAltName);
    const all = names ? childrenOf(readDer(names), tags.sequence) : [];
    const textsOf = (tag: number) =>
      all.filter((name) => name.tag === tag).map(({ content }) => Buffer.from(content).toString('latin1'));
    return { certificate, dnsNames: textsOf(dnsTag), emailAddresses: textsOf(emailTag) };
  } catch {
    return undefined;
  }
}

const mailAddress = /^[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+$/;

function nameCauses({ dnsNames, emailAddresses }: Leaf): StatusCause[] {
  return [
    ...dnsNames.flatMap((name) => [
      ...(name === ''
        ? [invalidCause(chainPath, name, 'leaf certificate should not contain empty DNSName')]
        : []),
      ...(name.includes('..')
        ? [invalidCause(chainPath, name, "leaf certificate's DNSName should not contain '..'")]
        : []),
      ...(name.startsWith('.') || name.endsWith('.')
        ? [invalidCause(chainPath, name, "leaf certificate's DNSName should not start or end with '.'")]
        : []),
    ]),
    ...emailAddresses
      .filter((address) => !mailAddress.test(address))
      .map((address) =>
        invalidCause(chainPath, address, 'leaf certificate should not contain invalid EmailAddress'),
      ),
  ];
}

function keyCauses({ spec, status }: PodCertificateRequest, { certificate }: Leaf): StatusCause[] {
  const key = requestedKey(spec.stubPKCS10Request);
  if (key?.equals(certificate.publicKey)) return [];
  const why = 'leaf certificate was not issued to the requested public key';
  return [invalidCause(chainPath, status?.certificateChain, why)];
}

function missingTimes({ status }: PodCertificateRequest): StatusCause[] {
  const consistent = 'must be present and consistent with the issued certificate';
  const between = 'must be present and in the range [notbefore+10min, notafter-10min]';
  return [
    ...(status?.notBefore ? [] : [requiredCause(timePaths.notBefore, consistent)]),
    ...(status?.notAfter ? [] : [requiredCause(timePaths.notAfter, consistent)]),
    ...(status?.beginRefreshAt ? [] : [requiredCause(timePaths.beginRefreshAt, between)]),
  ];
}

function timeCause(
  { spec, status }: PodCertificateRequest,
  { certificate }: Leaf,
  now: number,
): StatusCause | undefined {
  const { notBefore = '', notAfter = '', beginRefreshAt = '' } = status ?? {};
  const [begin, end, refresh] = [notBefore, notAfter, beginRefreshAt].map((time) => Date.parse(time)) as [
    number,
    number,
    number,
  ];
  const lifetime = end - begin;
  const most = spec.maxExpirationSeconds ?? 0;
  const invalid = (path: string, shown: string, why: string) =>
    invalidTogetherCause(path, `${shown}: ${why}`);
  if (begin !== certificate.validFromDate.getTime())
    return invalid(
      timePaths.notBefore,
      notBefore,
      'must be set to the NotBefore time encoded in the leaf certificate',
    );
  if (Math.abs(begin - now) >= maxSkew)
    return invalid(
      timePaths.notBefore,
      notBefore,
      "must be set to within 5 minutes of kube-apiserver's current time",
    );
  if (end !== certificate.validToDate.getTime())
    return invalid(
      timePaths.notAfter,
      notAfter,
      'must be set to the NotAfter time encoded in the leaf certificate',
    );
  if (lifetime < hour)
    return invalid(chainPath, goDuration(lifetime), 'leaf certificate lifetime must be >= 1 hour');
  if (lifetime > most * 1000) {
    const why = `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${most})`;
    return invalid(chainPath, goDuration(lifetime), why);
  }
  if (refresh < begin + refreshMargin)
    return invalid(
      timePaths.beginRefreshAt,
      beginRefreshAt,
      'must be at least 10 minutes after status.notBefore',
    );
  return refresh > end - refreshMargin
    ? invalid(timePaths.beginRefreshAt, beginRefreshAt, 'must be at least 10 minutes before status.notAfter')
    : undefined;
}
