/** Answers of the web server that rules of routes ask for. Pure. */
import { parseDuration } from '../../../../base/time.ts';
import type {
  Answer,
  BackendTls,
  CrossOrigin,
  ForwardAnswer,
  HeaderChanges,
  Mirror,
  PathChange,
  RedirectAnswer,
  Share,
} from '../../../../web-server/rule.ts';
import type { Listen } from '../../../../web-server/site.ts';
import { withoutSlash } from '../../../ingress/api/plain-path.ts';
import type {
  BackendObjectReference,
  CorsFilter,
  GrpcRouteRule,
  HttpRouteFilter,
  HttpRouteRule,
  PathModifier,
} from '../../api/route-types.ts';

/** Addresses of a backend, or the problem with its reference. */
export type Backends =
  | { readonly addresses: readonly string[]; readonly tls?: BackendTls }
  | { readonly message: string };

export interface AnswerFacts {
  readonly backendsOf: (ref: BackendObjectReference) => Backends;
  readonly listen: Listen;
}

const isProblem = (backends: Backends): backends is { readonly message: string } => 'message' in backends;

/** Returns the answer to calls of gRPC. */
export function grpcAnswerOf(rule: GrpcRouteRule, facts: AnswerFacts): Answer {
  const shares = sharesOf(rule, rule.filters ?? [], facts);
  // Clients take 503 as the status UNAVAILABLE.
  if (shares.length === 0) return { type: 'status', status: 503 };
  return {
    ...{ type: 'forward', protocol: 'GRPC', mirrors: [] },
    shares: shares.map((share) => ({ ...share, status: 503 })),
  };
}

/** Returns the answer to requests below `prefix`, which is the path of the match. */
export function answerOf(rule: HttpRouteRule, prefix: string, facts: AnswerFacts): Answer {
  const filters = rule.filters ?? [];
  const redirect = filters.find(({ requestRedirect }) => requestRedirect);
  if (redirect) return redirectOf(redirect, filters, prefix, facts);
  const shares = sharesOf(rule, filters, facts);
  // No other answer would be right without a backend that may get requests.
  if (shares.length === 0) return { type: 'status', status: 500 };
  const rewrite = filters.find(({ urlRewrite }) => urlRewrite)?.urlRewrite;
  const path = pathChange(rewrite?.path, prefix);
  const timeoutMs = timeoutOf(rule);
  const cors = filters.find((filter) => filter.cors)?.cors;
  return {
    ...{ type: 'forward', shares, mirrors: mirrorsOf(filters, facts) },
    ...(rewrite?.hostname && { host: rewrite.hostname.toLowerCase() }),
    ...(path && { path }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(cors && { crossOrigin: crossOriginOf(cors) }),
  } satisfies ForwardAnswer;
}

/** Scripts may ask again after five seconds unless the filter has another time. */
const defaultMaxAgeSeconds = 5;

const crossOriginOf = (cors: CorsFilter): CrossOrigin => ({
  origins: cors.allowOrigins ?? [],
  methods: cors.allowMethods ?? [],
  headers: cors.allowHeaders ?? [],
  exposed: cors.exposeHeaders ?? [],
  allowsCredentials: cors.allowCredentials ?? false,
  maxAgeSeconds: cors.maxAge ?? defaultMaxAgeSeconds,
});

const wellKnown = { http: 80, https: 443 } as const;

function redirectOf(
  { requestRedirect = {} }: HttpRouteFilter,
  filters: readonly HttpRouteFilter[],
  prefix: string,
  { listen }: AnswerFacts,
): RedirectAnswer {
  const own = listen.tls ? 'https' : 'http';
  const scheme =
    requestRedirect.scheme === undefined ? own : requestRedirect.scheme === 'https' ? 'https' : 'http';
  const wanted =
    requestRedirect.port ?? (requestRedirect.scheme === undefined ? listen.port : wellKnown[scheme]);
  const path = pathChange(requestRedirect.path, prefix);
  return {
    type: 'redirect',
    status: requestRedirect.statusCode ?? 302,
    scheme,
    ...(requestRedirect.hostname && { host: requestRedirect.hostname.toLowerCase() }),
    ...(wanted !== wellKnown[scheme] && { port: wanted }),
    ...(path && { path }),
    responseHeaders: headersOf(filters, 'responseHeaderModifier'),
  };
}

function pathChange(path: PathModifier | undefined, prefix: string): PathChange | undefined {
  if (!path) return undefined;
  if (path.type === 'ReplaceFullPath') return { type: 'whole', path: path.replaceFullPath || '/' };
  return { type: 'prefix', from: withoutEnd(prefix), to: withoutEnd(path.replacePrefixMatch ?? '') };
}

const withoutEnd = (path: string) => {
  const rest = withoutSlash(path);
  return rest === '/' ? '' : rest;
};

function sharesOf(
  { backendRefs = [] }: Pick<HttpRouteRule, 'backendRefs'>,
  filters: readonly HttpRouteFilter[],
  { backendsOf }: AnswerFacts,
): readonly Share[] {
  return backendRefs.flatMap((ref): Share[] => {
    const weight = ref.weight ?? 1;
    if (weight <= 0) return [];
    const found = backendsOf(ref);
    const all = [...filters, ...(ref.filters ?? [])];
    return [
      {
        weight,
        ...(isProblem(found) ? { backends: [] } : reachedBy(found)),
        status: isProblem(found) ? 500 : 503,
        requestHeaders: headersOf(all, 'requestHeaderModifier'),
        responseHeaders: headersOf(all, 'responseHeaderModifier'),
      },
    ];
  });
}

const reachedBy = ({ addresses, tls }: Exclude<Backends, { readonly message: string }>) => ({
  backends: addresses,
  ...(tls && { tls }),
});

/** Returns the changes of all filters of a kind, in their order. */
function headersOf(
  filters: readonly HttpRouteFilter[],
  kind: 'requestHeaderModifier' | 'responseHeaderModifier',
): HeaderChanges {
  const all = filters.flatMap((filter) => filter[kind] ?? []);
  return {
    set: all.flatMap(({ set = [] }) => set),
    add: all.flatMap(({ add = [] }) => add),
    remove: all.flatMap(({ remove = [] }) => remove),
  };
}

function mirrorsOf(filters: readonly HttpRouteFilter[], { backendsOf }: AnswerFacts): readonly Mirror[] {
  return filters.flatMap(({ requestMirror }): Mirror[] => {
    if (!requestMirror) return [];
    const found = backendsOf(requestMirror.backendRef);
    if (isProblem(found) || found.addresses.length === 0) return [];
    return [{ ...reachedBy(found), fraction: fractionOf(requestMirror) }];
  });
}

function fractionOf({ percent, fraction }: NonNullable<HttpRouteFilter['requestMirror']>): number {
  if (percent !== undefined) return percent / 100;
  return fraction ? fraction.numerator / (fraction.denominator ?? 100) : 1;
}

/** Returns the shorter of both timeouts; 0 for no timeout, undefined for the default. */
function timeoutOf({ timeouts = {} }: HttpRouteRule): number | undefined {
  const all = [timeouts.request, timeouts.backendRequest].flatMap((text) =>
    text === undefined ? [] : (parseDuration(text) ?? []),
  );
  const limits = all.filter((ms) => ms > 0);
  if (limits.length > 0) return Math.min(...limits);
  return all.length > 0 ? 0 : undefined;
}
