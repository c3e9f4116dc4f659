/** Issuer and audiences of service account tokens, from the settings. */

export interface IssuerOptions {
  /**
   * URLs (https). New tokens have the first one; tokens of all of them are accepted. Default
   * https://kubernetes.default.svc.cluster.local.
   */
  readonly issuers?: readonly string[];
  /** URL of the public keys; defaults to this server's own address. */
  readonly jwksURI?: string;
  /**
   * Extends the validity of tokens that a kubelet requests on its own account to one year, for programs that
   * may read their token only once; default true, as upstream.
   */
  readonly extendsTokens?: boolean;
  /** Time in milliseconds for which a key signs; default a year. */
  readonly keyAgeMs?: number;
}

export interface Issuer {
  readonly issuers: readonly string[];
  /** Audiences of a token that names none: this server. */
  readonly audiences: readonly string[];
  readonly extendsTokens: boolean;
}

export const defaultIssuer = (clusterDomain: string) => `https://kubernetes.default.svc.${clusterDomain}`;

export const defaultKeyAgeMs = 365 * 24 * 3_600_000;

export function issuerOf({ issuers = [], extendsTokens = true }: IssuerOptions): Issuer {
  const all = issuers.length > 0 ? issuers : [defaultIssuer('cluster.local')];
  return { issuers: all, audiences: all, extendsTokens };
}
