/**
 * The annotations of ingress-nginx that Ingresses are served with. Pure. A value that cannot be read is
 * reported, and the default is used; an Ingress is not served if the annotation protects something.
 */
import {
  bytes,
  cookieName,
  flag,
  names,
  oneOf,
  onOff,
  origins,
  ranges,
  redirectStatus,
  rewriteTarget,
  seconds,
  url,
} from './annotation-values.ts';
import type { Problem } from './problem.ts';

export const annotationPrefix = 'nginx.ingress.kubernetes.io/';

const readers = {
  affinity: oneOf('COOKIE'),
  'session-cookie-name': cookieName,
  'session-cookie-max-age': seconds,
  'backend-protocol': oneOf('HTTP', 'HTTPS', 'GRPC', 'GRPCS'),
  'cors-allow-credentials': flag,
  'cors-allow-headers': names,
  'cors-allow-methods': names,
  'cors-allow-origin': origins,
  'cors-max-age': seconds,
  'denylist-source-range': ranges,
  'enable-cors': flag,
  'force-ssl-redirect': flag,
  'permanent-redirect': url,
  'permanent-redirect-code': redirectStatus,
  'proxy-body-size': bytes,
  'proxy-buffering': onOff,
  'proxy-connect-timeout': seconds,
  'proxy-read-timeout': seconds,
  'proxy-request-buffering': onOff,
  'proxy-send-timeout': seconds,
  'rewrite-target': rewriteTarget,
  'ssl-redirect': flag,
  'temporal-redirect': url,
  'use-regex': flag,
  'whitelist-source-range': ranges,
} as const;

type Name = keyof typeof readers;
export type Annotations = { readonly [N in Name]?: ReturnType<(typeof readers)[N]> };

/** Names of all annotations that have an effect, sorted. */
export const servedAnnotations: readonly string[] = Object.keys(readers).sort();

/** Other names of an annotation. */
const aliases: Readonly<Record<string, Name>> = { 'allowlist-source-range': 'whitelist-source-range' };

/** Annotations without an effect, with the values for which that is right: they state what happens anyway. */
const without: Readonly<Record<string, readonly string[]>> = {
  'service-upstream': ['true'],
  'affinity-mode': ['balanced', 'persistent'],
  'proxy-http-version': ['1.1'],
  'session-cookie-path': ['/'],
};

/** Annotations that restrict requests: a wrong value must not open what it was to protect. */
const protective: ReadonlySet<string> = new Set(['denylist-source-range', 'whitelist-source-range']);

/** Annotations that protect something and have no effect here: an Ingress with one is not served. */
const refused =
  /^(?:auth-.*|.*-snippet|limit-.*|enable-modsecurity|enable-owasp-core-rules|modsecurity-.*|enable-global-auth|satisfy|proxy-ssl-.*)$/;

export interface ReadAnnotations {
  readonly values: Annotations;
  readonly problems: readonly Problem[];
  /** True if the Ingress must not be served. */
  readonly isRefused: boolean;
}

export function readAnnotations(annotations: Readonly<Record<string, string>> = {}): ReadAnnotations {
  const values: Record<string, unknown> = {};
  const problems: Problem[] = [];
  let isRefused = false;
  for (const [key, value] of Object.entries(annotations)) {
    if (!key.startsWith(annotationPrefix)) continue;
    const name = key.slice(annotationPrefix.length);
    const outcome = readOne(name, value);
    if ('value' in outcome) values[outcome.name] = outcome.value;
    else if (outcome.problem) problems.push(outcome.problem);
    if ('isRefused' in outcome) isRefused = true;
  }
  return { values: values as Annotations, problems, isRefused };
}

type Outcome =
  | { readonly name: Name; readonly value: unknown }
  | { readonly problem?: Problem; readonly isRefused?: true };

function readOne(name: string, value: string): Outcome {
  const known = Object.hasOwn(aliases, name) ? aliases[name] : name;
  if (known !== undefined && isServed(known)) return readServed(known, name, value);
  if (Object.hasOwn(without, name) && without[name]?.includes(value)) return {};
  const at = `annotation ${annotationPrefix}${name}`;
  if (refused.test(name)) {
    const message = `${at} has no effect here, and may protect something: the Ingress is not served; remove the annotation`;
    return { problem: { reason: 'NotServed', message }, isRefused: true };
  }
  return { problem: { reason: 'UnsupportedAnnotation', message: `${at} has no effect here` } };
}

function readServed(known: Name, name: string, value: string): Outcome {
  try {
    return { name: known, value: readers[known](value) };
  } catch (error) {
    const why = `annotation ${annotationPrefix}${name}: ${error instanceof Error ? error.message : ''}`;
    if (!protective.has(known))
      return { problem: { reason: 'InvalidAnnotation', message: `${why}; its default is used` } };
    return {
      problem: { reason: 'NotServed', message: `${why}; the Ingress is not served` },
      isRefused: true,
    };
  }
}

const isServed = (name: string): name is Name => Object.hasOwn(readers, name);
