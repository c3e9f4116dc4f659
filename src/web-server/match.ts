/** Parts of routes and of rules of a site. Pure data. */

/**
 * Exact: the path itself. Prefix: the path and everything below it, in whole elements. Regex: the pattern
 * from the beginning of the path, in upper or lower case; the first one of a site that matches is used, and
 * only if no Exact or Prefix except `/` matches.
 */
export interface Match {
  readonly type: 'Exact' | 'Prefix' | 'Regex';
  /** For Exact and Prefix a path as `isPlainPath` accepts; for Regex a pattern. */
  readonly path: string;
}

export interface Cors {
  /** Origins such as `https://shop.example`; `*` alone: all. */
  readonly origins: readonly string[];
  readonly methods: string;
  readonly headers: string;
  readonly allowsCredentials: boolean;
  readonly maxAgeSeconds: number;
}
