/**
 * Contracts for reading and signing PKCS #10 requests: types only, so that the modules that decide on
 * requests do not depend on the parser (src/pki).
 */

export interface CertificateRequestContent {
  /** Common name; empty when the subject has none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  /** IP addresses in their usual text form. */
  readonly ipAddresses: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly uris: readonly string[];
}

/** Reads a PEM and checks its own signature. Rejects with an Error whose message describes the problem. */
export type ReadCertificateRequest = (pem: string) => Promise<CertificateRequestContent>;

export interface SigningTerms {
  /** Usages in Kubernetes' terms, such as `client auth`. */
  readonly usages: readonly string[];
  /** Milliseconds since the epoch; limited to the validity of the authority. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/** Resolves to the certificate (PEM) with the subject, names and key of the request. */
export type SignCertificateRequest = (pem: string, terms: SigningTerms) => Promise<string>;
