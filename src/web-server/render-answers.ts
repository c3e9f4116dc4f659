/** The bodies of locations that answer requests of a rule. Pure. */
import { quoted, quotedLiteral } from './quote.ts';
import { encoded } from './render-conditions.ts';
import { crossOriginLines } from './render-cross-origin.ts';
import { type Module, requestLines, responseLines } from './render-headers.ts';
import type { BackendTls, ForwardAnswer, Mirror, PathChange, RedirectAnswer, Share } from './rule.ts';
import { checkedFile, checkedHost, type Upstreams } from './upstreams.ts';
import type { Variables } from './variables.ts';

export interface AnswerFacts {
  readonly upstreams: Upstreams;
  readonly variables: Variables;
  /** Directory with the certificates of authorities. */
  readonly directory: string;
}

export function statusBody(status: number): readonly string[] {
  const words =
    status === 500 ? 'the backend of this route is not valid' : 'no backend of this route is available';
  return [`return ${status} ${quoted(words).slice(0, -1)}\\n";`];
}

export function redirectBody(answer: RedirectAnswer, { variables }: AnswerFacts): readonly string[] {
  const { status, scheme, host, port, path } = answer;
  const authority = `${host === undefined ? '$host' : checkedHost(host)}${port === undefined ? '' : `:${port}`}`;
  const target = path === undefined ? '$request_uri' : `${pathVariable(path, variables)}$is_args$args`;
  return [
    ...responseLines('proxy', answer.responseHeaders),
    `return ${status} ${quoted(`${scheme}://${authority}${target}`)};`,
  ];
}

/** Returns the location's body for one share of an answer. */
export function shareBody(answer: ForwardAnswer, share: Share, facts: AnswerFacts): readonly string[] {
  const { upstreams, variables } = facts;
  const crossOrigin = answer.crossOrigin ? crossOriginLines(answer.crossOrigin, variables) : [];
  const headers = responseLines('proxy', share.responseHeaders, crossOrigin.length > 0);
  if (share.backends.length === 0) return [...crossOrigin, ...headers, ...statusBody(share.status)];
  if (answer.protocol === 'GRPC') return grpcBody(share, facts);
  const upstream = upstreams.nameOf(share, share.tls);
  const path = answer.path === undefined ? '' : `${pathVariable(answer.path, variables)}$is_args$args`;
  return [
    ...crossOrigin,
    ...timeoutLines(answer.timeoutMs),
    ...requestLines('proxy', share.requestHeaders, answer.host, variables),
    ...headers,
    ...tlsLines('proxy', share.tls, facts),
    `proxy_pass ${share.tls ? 'https' : 'http'}://${upstream}${path};`,
  ];
}

/** Longest chain of authorities between that of the file and the certificate of a backend. */
const maxChain = 8;

/** Returns the lines that send no request before the certificate of the backend has been checked. */
function tlsLines(
  module: Module,
  tls: BackendTls | undefined,
  { directory }: AnswerFacts,
): readonly string[] {
  if (!tls) return [];
  return [
    `protocols TLSv1.2 TLSv1.3`,
    `trusted_certificate ${quoted(`${directory}/${checkedFile(tls.authorities)}`)}`,
    `verify on`,
    `verify_depth ${maxChain}`,
    `name ${quoted(checkedHost(tls.name))}`,
    `server_name on`,
  ].map((line) => `${module}_ssl_${line};`);
}

/** Longest silence in a stream: a call may wait longer for a message than a request for its answer. */
const streamSilence = '1h';

function grpcBody(
  { backends, tls, requestHeaders, responseHeaders }: Share,
  facts: AnswerFacts,
): readonly string[] {
  const upstream = facts.upstreams.nameOf({ backends }, tls);
  return [
    ...['client_body_timeout', 'grpc_read_timeout', 'grpc_send_timeout'].map(
      (name) => `${name} ${streamSilence};`,
    ),
    'grpc_socket_keepalive on;',
    ...requestLines('grpc', requestHeaders, undefined, facts.variables),
    ...responseLines('grpc', responseHeaders),
    ...tlsLines('grpc', tls, facts),
    `grpc_pass ${tls ? 'grpcs' : 'grpc'}://${upstream};`,
  ];
}

/** Returns the body of the location that answers a copy of the request. */
export function mirrorBody({ backends, tls, fraction }: Mirror, facts: AnswerFacts): readonly string[] {
  const upstream = facts.upstreams.nameOf({ backends }, tls);
  const chosen = fraction < 1 ? [skippedPart(fraction, facts.variables)] : [];
  const scheme = tls ? 'https' : 'http';
  return [
    'internal;',
    ...chosen,
    ...tlsLines('proxy', tls, facts),
    `proxy_pass ${scheme}://${upstream}$request_uri;`,
  ];
}

function skippedPart(fraction: number, variables: Variables): string {
  const picked = variables.split([
    { weight: 1 - fraction, value: 'no' },
    { weight: fraction, value: 'yes' },
  ]);
  return `if (${picked} = no) {\n        return 204;\n      }`;
}

function timeoutLines(timeoutMs: number | undefined): readonly string[] {
  if (timeoutMs === undefined) return [];
  // nginx cannot switch a timeout off: a day is used for no limit.
  const ms = timeoutMs === 0 ? 86_400_000 : Math.max(1, Math.round(timeoutMs));
  return ['read', 'send'].map((name) => `proxy_${name}_timeout ${ms}ms;`);
}

/**
 * Returns the variable with the changed path, as the request encodes it. A path whose decoded text does not
 * begin with the prefix, such as one with `..`, becomes only the new prefix.
 */
function pathVariable(change: PathChange, variables: Variables): string {
  if (change.type === 'whole') return quotedLiteral(change.path).slice(1, -1);
  const { from, to } = change;
  const start = `^(?:[Hh][Tt][Tt][Pp][Ss]?://[^/?]*)?${encoded(from)}`;
  const target = quotedLiteral(to).slice(1, -1);
  return variables.map(
    '$request_uri',
    [{ pattern: `${start}(?<minik8s_rest>/[^?]*)(?:[?]|$)`, value: `"${target}$minik8s_rest"` }],
    `"${target === '' ? '/' : target}"`,
  );
}
