/**
 * Spans of requests, with Kubernetes' names and attributes, within the caller's trace if the caller is
 * trusted.
 */
import { StatusError } from '../../apimachinery/status-error.ts';
import { errorKind, inSpan } from '../../base/tracing/current-span.ts';
import type { Span, Tracer } from '../../base/tracing/span.ts';
import { parseTraceparent, type TraceContext, traceparentHeader } from '../../base/tracing/trace-context.ts';
import type { LongRunning } from '../subresources/subresources.ts';
import type { ResourceRequest } from './request-info.ts';
import { isPartOfCluster, mastersGroup, monitoringGroup, type UserInfo } from './user.ts';

/** Begin and end of the authentication, by the monotonic clock. */
export interface Identified {
  readonly since: number;
  readonly until: number;
}

export interface TracedRequest {
  readonly method: string;
  readonly headers: Pick<Headers, 'get'>;
  readonly info: ResourceRequest;
  /** Kubernetes' verb of the request. */
  readonly verb: string | undefined;
  readonly longRunning: LongRunning | undefined;
  readonly user: UserInfo;
  readonly remoteAddress: string | undefined;
  /** Absent if the caller needs no authentication. */
  readonly identified: Identified | undefined;
}

export type Beginning =
  | { readonly kind: 'child'; readonly parent: TraceContext }
  | { readonly kind: 'root'; readonly link: TraceContext | undefined }
  | { readonly kind: 'none' };

/**
 * Returns where the span of a request belongs. As upstream, the trace contexts of administrators, monitoring
 * and the parts of the cluster are trusted; the trace of any other user is only linked, because it would
 * decide what is recorded here. Requests that the parts of the cluster send on their own begin no trace. A
 * call of a program stays in its caller's trace.
 */
export function beginningOf(
  header: string | null,
  user: UserInfo,
  longRunning: LongRunning | undefined,
): Beginning {
  const parent = parseTraceparent(header);
  const isOwn = isPartOfCluster(user);
  const isBelieved = isOwn || user.groups.includes(mastersGroup) || user.groups.includes(monitoringGroup);
  if (parent && isBelieved) return parent.sampled ? { kind: 'child', parent } : { kind: 'none' };
  if (isOwn || (parent && longRunning === 'call')) return { kind: 'none' };
  return { kind: 'root', link: parent };
}

const service = 'apiserver';

/**
 * Runs `work` within a span of the request, which ends when the answer begins; without a tracer, only runs
 * it.
 */
export async function traceRequest<T extends { readonly status: number; readonly headers?: unknown }>(
  tracer: Tracer | undefined,
  request: TracedRequest,
  work: () => Promise<T>,
): Promise<T> {
  const span = tracer && spanOf(tracer, request);
  if (!span?.context.sampled) return work();
  return inSpan(span, async () => {
    try {
      const answer = await work();
      answered(span, answer.status);
      if (answer.headers instanceof Headers)
        span.set({ 'audit-id': answer.headers.get('audit-id') ?? undefined });
      return answer;
    } catch (error) {
      if (error instanceof StatusError) answered(span, error.status.code);
      else span.fail(errorKind(error));
      throw error;
    } finally {
      span.end();
    }
  });
}

function spanOf(tracer: Tracer, request: TracedRequest): Span | undefined {
  const { method, headers, info, verb, longRunning, user, remoteAddress, identified } = request;
  // The answers to streams and logs last until the client ends them.
  if (verb === 'watch' || longRunning === 'stream' || longRunning === 'log') return undefined;
  const beginning = beginningOf(headers.get(traceparentHeader), user, longRunning);
  if (beginning.kind === 'none') return undefined;
  const isRoot = beginning.kind === 'root';
  const attributes = {
    'http.request.method': method,
    'http.route': routeOf(info),
    'url.path': pathOf(info),
    verb,
    'user_agent.original': headers.get('user-agent') ?? undefined,
    'client.address': remoteAddress,
  };
  const span = tracer.start(service, `${method} ${routeOf(info)}`, isRoot ? undefined : beginning.parent, {
    kind: 'server',
    attributes,
    ...(identified && { since: identified.since }),
    ...(isRoot && { link: beginning.link }),
  });
  if (identified && span.context.sampled)
    span.child('authentication', { since: identified.since }).end(identified.until);
  return span;
}

/**
 * Records the status. Only a fault of the server counts as a failure of the span (semantic conventions of
 * HTTP).
 */
function answered(span: Span, status: number): void {
  span.set({ 'http.response.status_code': status });
  if (status >= 500) span.fail(String(status));
}

const routeOf = (info: ResourceRequest) =>
  pathOf({
    ...info,
    namespace: info.namespace && '{:namespace}',
    name: info.name && '{:name}',
  });

/**
 * Returns the path without the part after a subresource, and without the query: either may contain secrets.
 */
function pathOf({ group, version, namespace, plural, name, subresource }: ResourceRequest): string {
  const root = group ? ['apis', group] : ['api'];
  const place = namespace ? ['namespaces', namespace] : [];
  return `/${[...root, version, ...place, plural, name, subresource].filter(Boolean).join('/')}`;
}
