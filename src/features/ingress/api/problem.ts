/** A part of an Ingress that is not served as written; becomes a Warning event of the Ingress. */

export type ProblemReason =
  | 'BackendNotFound'
  | 'CertificateNotUsed'
  | 'InvalidAnnotation'
  | 'NotServed'
  | 'PathNotServed'
  | 'PathTaken'
  | 'ResourceBackendNotSupported'
  | 'TooManyPaths'
  | 'UnsupportedAnnotation';

export interface Problem {
  readonly reason: ProblemReason;
  readonly message: string;
}
