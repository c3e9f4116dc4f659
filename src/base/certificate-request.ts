/**
 * What a PKCS #10 request asks for, and how it is read and signed: types alone, so that the parts that decide on
 * requests need not know who understands their encoding (src/pki).
 */

export interface CertificateRequestContent {
  /** '' when the subject has none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  /** In their usual text form. */
  readonly ipAddresses: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly uris: readonly string[];
}

/** Reads a PEM and checks its own signature. Rejects with an Error whose message says what is wrong with it. */
export type ReadCertificateRequest = (pem: string) => Promise<CertificateRequestContent>;

export interface SigningTerms {
  /** Kubernetes' words, such as `client auth`. */
  readonly usages: readonly string[];
  /** Milliseconds since the epoch; cut to the life of the authority. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/** Resolves to the certificate, PEM, with the subject, names and key of the request. */
export type SignCertificateRequest = (pem: string, terms: SigningTerms) => Promise<string>;
