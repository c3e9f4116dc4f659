/**
 * Rules of a site that choose by more than the path: methods, headers and parameters of the query. Pure data;
 * render-rules.ts renders the configuration. Names of headers have only letters, digits and `-`.
 */
import type { Match } from './match.ts';

/**
 * The first rule of a site whose path and conditions match the request answers. Regex: the pattern matches
 * the whole path; upper and lower case differ.
 */
export interface Rule {
  readonly path: Match;
  /** All of them must hold. */
  readonly conditions: readonly Condition[];
  readonly answer: Answer;
}

export type Condition =
  | { readonly on: 'method'; readonly value: string }
  | { readonly on: 'header' | 'query'; readonly name: string; readonly value: ValueMatch };

/** `text`: the value itself; otherwise a pattern for the whole value. */
export type ValueMatch = { readonly text: string } | { readonly pattern: string };

export type Answer = StatusAnswer | RedirectAnswer | ForwardAnswer;

export interface StatusAnswer {
  readonly type: 'status';
  readonly status: number;
}

export interface RedirectAnswer {
  readonly type: 'redirect';
  readonly status: number;
  readonly scheme: 'http' | 'https';
  /** Undefined: the host of the request. */
  readonly host?: string;
  /** Undefined: the usual port of the scheme. */
  readonly port?: number;
  readonly path?: PathChange;
  readonly responseHeaders: HeaderChanges;
}

export interface ForwardAnswer {
  readonly type: 'forward';
  /** At least one, each with a weight above 0. */
  readonly shares: readonly Share[];
  readonly mirrors: readonly Mirror[];
  /** Protocol of the backends; default HTTP/1.1. GRPC: HTTP/2, and streams of any length. */
  readonly protocol?: 'GRPC';
  /** Replaces the Host header. */
  readonly host?: string;
  readonly path?: PathChange;
  /** Maximum time in milliseconds without data from a backend; 0: no limit. */
  readonly timeoutMs?: number;
  /** Undefined: answers of the backend are passed on as they are. */
  readonly crossOrigin?: CrossOrigin;
}

/** Rights of scripts of other origins. In each list '*' alone stands for everything. */
export interface CrossOrigin {
  /** Origins such as `https://shop.example` and `https://*.example:8443`. */
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  /** Headers of requests. */
  readonly headers: readonly string[];
  /** Headers of answers that scripts may read. */
  readonly exposed: readonly string[];
  readonly allowsCredentials: boolean;
  readonly maxAgeSeconds: number;
}

/** TLS to backends, whose certificates are checked. */
export interface BackendTls {
  /** Name that is sent to the backend, and that its certificate must have. */
  readonly name: string;
  /** Name of the file with the authorities, among the certificates of the server. */
  readonly authorities: string;
}

/** A part of the requests, by weight. */
export interface Share {
  readonly weight: number;
  /** Addresses such as `10.96.0.20:80`; none: the share is answered with `status`. */
  readonly backends: readonly string[];
  /** Undefined: without TLS. */
  readonly tls?: BackendTls;
  readonly status: number;
  readonly requestHeaders: HeaderChanges;
  readonly responseHeaders: HeaderChanges;
}

/** A copy of requests whose answer is dropped. */
export interface Mirror {
  readonly backends: readonly string[];
  /** Undefined: without TLS. */
  readonly tls?: BackendTls;
  /** Part of the requests, from 0 to 1. */
  readonly fraction: number;
}

export type PathChange =
  | { readonly type: 'whole'; readonly path: string }
  /** Both without a slash at the end; '' for `/`. */
  | { readonly type: 'prefix'; readonly from: string; readonly to: string };

export interface HeaderValue {
  readonly name: string;
  readonly value: string;
}

export interface HeaderChanges {
  readonly set: readonly HeaderValue[];
  readonly add: readonly HeaderValue[];
  readonly remove: readonly string[];
}
