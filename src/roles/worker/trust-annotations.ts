/**
 * Annotations of a Node about the authorities that the node trusts. Masters read from them whether the node
 * has followed a rotation.
 */
import { X509Certificate } from 'node:crypto';
import {
  certificateAnnotation,
  issuersAnnotation,
  trustsAnnotation,
} from '../../api/core/v1/node/annotations.ts';
import { type Current, replaceable } from '../../base/current.ts';
import { certificatesOf } from '../../os/certificate-bundle.ts';
import { authorityHash } from '../../pki/authority-hash.ts';
import { issuerHash } from '../../pki/authority-rotation.ts';
import type { KeyAndCertificate } from '../../pki/x509.ts';

export interface TrustSources {
  /** PEM of the authorities that the node trusts. */
  readonly trusted: Current<string>;
  readonly client: Current<KeyAndCertificate>;
  readonly serving: Current<KeyAndCertificate | undefined>;
}

/** Returns the annotations, which change with their sources. */
export function trustAnnotations(sources: TrustSources): Current<Readonly<Record<string, string>>> {
  const { trusted, client, serving } = sources;
  const annotations = replaceable(annotationsOf(sources));
  for (const source of [trusted, client, serving])
    source.onChange(() => annotations.replace(annotationsOf(sources)));
  return annotations;
}

function annotationsOf({ trusted, client, serving }: TrustSources): Readonly<Record<string, string>> {
  const authorities = certificatesOf(trusted.value);
  const pairs = [client.value, serving.value].filter((pair) => pair !== undefined);
  return {
    [certificateAnnotation]: new X509Certificate(client.value.certificate).fingerprint256,
    [trustsAnnotation]: authorities.map((authority) => authorityHash(authority.toString())).join(','),
    [issuersAnnotation]: [
      ...new Set(pairs.map(({ certificate }) => issuerHash(certificate, authorities))),
    ].join(','),
  };
}
