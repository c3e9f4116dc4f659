/** Requests as spans: by Kubernetes' names and attributes, within the caller's trace where the caller is believed. */
import { StatusError } from '../apimachinery/status-error.ts';
import { errorKind, inSpan } from '../base/tracing/current-span.ts';
import type { Span, Tracer } from '../base/tracing/span.ts';
import { parseTraceparent, type TraceContext, traceparentHeader } from '../base/tracing/trace-context.ts';
import type { ResourceRequest } from './request-info.ts';
import { isPartOfCluster, mastersGroup, monitoringGroup, type UserInfo } from './user.ts';

/** How long it took to find out who asks, by the monotonic clock. */
export interface Identified {
  readonly since: number;
  readonly until: number;
}

export interface TracedRequest {
  readonly method: string;
  readonly headers: Pick<Headers, 'get'>;
  readonly info: ResourceRequest;
  /** Kubernetes' word for what is asked for. */
  readonly verb: string | undefined;
  readonly user: UserInfo;
  readonly remoteAddress: string | undefined;
  /** Absent where the caller needs no proof. */
  readonly identified: Identified | undefined;
}

export type Beginning =
  | { readonly kind: 'child'; readonly parent: TraceContext }
  | { readonly kind: 'root'; readonly link: TraceContext | undefined }
  | { readonly kind: 'none' };

/**
 * Where the span of a request belongs. As upstream, administrators and monitoring are believed, and the parts of the cluster; the
 * trace of anybody else is only linked to, as it would decide what is recorded here. What the parts of the cluster do for
 * themselves begins no trace. A call of a function stays in its caller's.
 */
export function beginningOf(
  header: string | null,
  user: UserInfo,
  { subresource }: Pick<ResourceRequest, 'subresource'>,
): Beginning {
  const parent = parseTraceparent(header);
  const isOwn = isPartOfCluster(user);
  const isBelieved = isOwn || user.groups.includes(mastersGroup) || user.groups.includes(monitoringGroup);
  if (parent && isBelieved) return parent.sampled ? { kind: 'child', parent } : { kind: 'none' };
  if (isOwn || (parent && subresource === 'invoke')) return { kind: 'none' };
  return { kind: 'root', link: parent };
}

/** Answers last as long as the client likes: those are no spans. */
const endless: readonly string[] = ['attach', 'exec', 'log', 'portforward', 'proxy'];

const service = 'apiserver';

/** Does `work` as the request's span, which ends when the answer begins; without a tracer just so. */
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
  const { method, headers, info, verb, user, remoteAddress, identified } = request;
  if (verb === 'watch' || endless.includes(info.subresource)) return undefined;
  const beginning = beginningOf(headers.get(traceparentHeader), user, info);
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

/** What the server is to blame for is a failure of the span (semantic conventions of HTTP). */
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

/** Without what follows a subresource, and without the query: either may hold secrets of others. */
function pathOf({ group, version, namespace, plural, name, subresource }: ResourceRequest): string {
  const root = group ? ['apis', group] : ['api'];
  const place = namespace ? ['namespaces', namespace] : [];
  return `/${[...root, version, ...place, plural, name, subresource].filter(Boolean).join('/')}`;
}
