/** Who issues the tokens of service accounts, and for whom: what the settings say. */

export interface IssuerOptions {
  /** URLs (https). The first stands in new tokens; those of all are taken. Default https://kubernetes.default.svc.cluster.local. */
  readonly issuers?: readonly string[];
  /** Where the public keys are read; default this server's own address. */
  readonly jwksURI?: string;
  /**
   * A token that an agent asks for on its own account, for a program that may read it only once, is good for a year; default true,
   * as upstream.
   */
  readonly extendsTokens?: boolean;
  /** How long a key signs, in milliseconds; default a year. */
  readonly keyAgeMs?: number;
}

export interface Issuer {
  readonly issuers: readonly string[];
  /** Whom a token is for that names nobody: this server. */
  readonly audiences: readonly string[];
  readonly extendsTokens: boolean;
}

export const defaultIssuer = (clusterDomain: string) => `https://kubernetes.default.svc.${clusterDomain}`;

export const defaultKeyAgeMs = 365 * 24 * 3_600_000;

export function issuerOf({ issuers = [], extendsTokens = true }: IssuerOptions): Issuer {
  const all = issuers.length > 0 ? issuers : [defaultIssuer('cluster.local')];
  return { issuers: all, audiences: all, extendsTokens };
}
