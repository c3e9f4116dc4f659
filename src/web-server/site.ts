/**
 * Content of the node's web server, independent of the kind of object that requires it: hosts with routes.
 * Fronts (Dns objects, Ingresses) create sites; render-nginx.ts renders the configuration. Pure.
 */

import type { Cors, Match } from './match.ts';
import type { Rule } from './rule.ts';

/** A host with its routes. Example: `{ host: 'shop.example', routes: [] }`. */
export interface Site {
  /** A name such as `shop.example`, `*.example` for names below it, or '' for every other host. */
  readonly host: string;
  /** The star of the host stands for one label, or for one or more; default one. */
  readonly star?: 'one' | 'more';
  /** The only port on which the host is served; default: the ports of the server for HTTP and HTTPS. */
  readonly listen?: Listen;
  /** Name of a certificate file; undefined: the default certificate. */
  readonly certificate?: string;
  /** Text of the answer to a path without a route. */
  readonly notFound: string;
  readonly routes: readonly Route[];
  /** Replaces the routes: the first rule that matches answers. */
  readonly rules?: readonly Rule[];
}

export interface Listen {
  readonly port: number;
  readonly tls: boolean;
  /** Clients may begin with HTTP/2 on a port without TLS. */
  readonly http2?: boolean;
}

export type Protocol = 'HTTP' | 'HTTPS' | 'GRPC' | 'GRPCS';

export interface Route {
  readonly match: Match;
  readonly action: Action;
  readonly policy?: Policy;
}

export type Action =
  /** Answers that no backend is available. */
  | { readonly type: 'unavailable' }
  | { readonly type: 'redirect'; readonly status: number; readonly url: string }
  | ProxyAction;

export interface ProxyAction {
  readonly type: 'proxy';
  readonly protocol: Protocol;
  /** Addresses such as `10.96.0.20:80`; at least one. */
  readonly backends: readonly string[];
  /** True if the prefix is removed from the path and sent in X-Forwarded-Prefix. */
  readonly stripsPrefix?: boolean;
  /** Replaces the whole path; `$1` to `$9` are the groups of a Regex. */
  readonly rewrite?: string;
  /** Keeps a client at one backend by a cookie. */
  readonly affinity?: { readonly cookie: string; readonly maxAgeSeconds?: number };
}

/** Limits and rules for the requests of a route. Absent fields have the defaults of the configuration. */
export interface Policy {
  /** Redirects HTTP to HTTPS. */
  readonly requiresTls?: boolean;
  /** Maximum size of a body in bytes; 0: no limit. */
  readonly maxBodyBytes?: number;
  readonly connectTimeoutSeconds?: number;
  readonly sendTimeoutSeconds?: number;
  readonly readTimeoutSeconds?: number;
  /** Ranges of addresses; the empty list allows everybody. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly buffersAnswers?: boolean;
  readonly buffersBodies?: boolean;
  readonly cors?: Cors;
}

export const defaultMaxBodyBytes = 1024 * 1024;

/** Returns true for a path that is safe in the configuration and that the server compares as it is. */
export const isPlainPath = (path: string): boolean => /^\/[A-Za-z0-9._~!'()*+,;=:@&/-]*$/.test(path);
