/**
 * Parts of routes that cannot be served. Pure. A route with such a part is rejected as a whole: half of its
 * rules could open what the other half protects.
 */
import { parseDuration } from '../../../base/time.ts';
import { patternProblem } from '../../ingress/api/path-pattern.ts';
import { pathProblem } from '../../ingress/api/plain-path.ts';
import { corsProblem } from './cors-problem.ts';
import { grpcRuleProblem } from './grpc-route-problem.ts';
import { isHostname } from './hostnames.ts';
import { isGrpcRoute, type Route } from './kinds.ts';
import type { ListenerProblem } from './listeners.ts';
import type { HttpRouteFilter, HttpRouteMatch, HttpRouteRule, PathModifier } from './route-types.ts';
import {
  first,
  headerFilterProblem,
  headerMatchProblem,
  missing,
  unsupported,
  valueProblem,
  within,
} from './route-value-problems.ts';

/** Returns the first problem, with its reason as in the condition Accepted; undefined if there is none. */
export function routeProblem(route: Route): ListenerProblem | undefined {
  const host = route.spec.hostnames?.find((name) => !isHostname(name));
  if (host !== undefined) return unsupported(`spec.hostnames: ${JSON.stringify(host)} is not a host name`);
  return isGrpcRoute(route)
    ? first(route.spec.rules ?? [], (rule, index) => within(`spec.rules[${index}]`, grpcRuleProblem(rule)))
    : first(route.spec.rules ?? [], (rule, index) => within(`spec.rules[${index}]`, ruleProblem(rule)));
}

function ruleProblem(rule: HttpRouteRule): ListenerProblem | undefined {
  const { matches = [], filters = [], backendRefs = [], timeouts = {} } = rule;
  if (rule.retry) return unsupported('.retry: retries are not supported');
  if (rule.sessionPersistence) return unsupported('.sessionPersistence: it is not supported');
  for (const name of ['request', 'backendRequest'] as const) {
    const value = timeouts[name];
    if (value !== undefined && parseDuration(value) === undefined)
      return unsupported(`.timeouts.${name}: ${JSON.stringify(value)} is not a duration such as 500ms`);
  }
  return (
    first(matches, (match, index) => within(`.matches[${index}]`, matchProblem(match))) ??
    first(filters, (filter, index) => within(`.filters[${index}]`, filterProblem(filter, matches))) ??
    togetherProblem(filters, backendRefs.length) ??
    first(backendRefs, (ref, index) =>
      first(ref.filters ?? [], (filter, at) =>
        within(`.backendRefs[${index}].filters[${at}]`, backendFilterProblem(filter, matches)),
      ),
    )
  );
}

function matchProblem(match: HttpRouteMatch): ListenerProblem | undefined {
  const { path, headers = [], queryParams = [], method = 'GET' } = match;
  if (!/^[A-Z]{1,16}$/.test(method)) return unsupported(`.method: ${JSON.stringify(method)} is not a method`);
  const { type = 'PathPrefix', value = '/' } = path ?? {};
  const why = typeof value !== 'string' ? 'must be text' : pathValueProblem(type, value);
  if (why !== undefined) return unsupported(`.path: ${JSON.stringify(value)} ${why}`);
  return (
    first(headers, (header, index) => within(`.headers[${index}]`, headerMatchProblem(header))) ??
    first(queryParams, (param, index) => within(`.queryParams[${index}]`, valueProblem(param)))
  );
}

function pathValueProblem(type: string, value: string): string | undefined {
  if (type === 'RegularExpression') return patternProblem(value);
  if (type !== 'Exact' && type !== 'PathPrefix') return `has the type ${type}, which is not supported`;
  if (/\/\/|\/\.\.?(\/|$)/.test(value)) return "must not have '//', '/./' or '/../'";
  return pathProblem(value);
}

function filterProblem(
  filter: HttpRouteFilter,
  matches: readonly HttpRouteMatch[],
): ListenerProblem | undefined {
  switch (filter.type) {
    case 'RequestHeaderModifier':
      return headerFilterProblem('.requestHeaderModifier', filter.requestHeaderModifier);
    case 'ResponseHeaderModifier':
      return headerFilterProblem('.responseHeaderModifier', filter.responseHeaderModifier);
    case 'RequestMirror':
      return filter.requestMirror ? undefined : missing('requestMirror');
    case 'RequestRedirect':
      return filter.requestRedirect
        ? within('.requestRedirect', redirectProblem(filter.requestRedirect, matches))
        : missing('requestRedirect');
    case 'URLRewrite':
      return filter.urlRewrite
        ? within('.urlRewrite', targetProblem(filter.urlRewrite, matches))
        : missing('urlRewrite');
    case 'CORS':
      return filter.cors ? within('.cors', corsProblem(filter.cors)) : missing('cors');
    default:
      return unsupported(`.type: ${filter.type} is not supported`);
  }
}

const redirects = new Set([301, 302, 303, 307, 308]);

function redirectProblem(
  redirect: NonNullable<HttpRouteFilter['requestRedirect']>,
  matches: readonly HttpRouteMatch[],
): ListenerProblem | undefined {
  const { scheme = 'http', statusCode = 302 } = redirect;
  if (scheme !== 'http' && scheme !== 'https') return unsupported(`.scheme: ${scheme} is not supported`);
  return redirects.has(statusCode)
    ? targetProblem(redirect, matches)
    : unsupported(`.statusCode: ${statusCode} is not a redirect`);
}

function targetProblem(
  { hostname, path }: { readonly hostname?: string; readonly path?: PathModifier },
  matches: readonly HttpRouteMatch[],
): ListenerProblem | undefined {
  if (hostname && (hostname.startsWith('*') || !isHostname(hostname)))
    return unsupported(`.hostname: ${JSON.stringify(hostname)} is not a host name`);
  return within('.path', modifierProblem(path, matches));
}

function modifierProblem(
  path: PathModifier | undefined,
  matches: readonly HttpRouteMatch[],
): ListenerProblem | undefined {
  if (!path) return undefined;
  const value = path.type === 'ReplaceFullPath' ? path.replaceFullPath : path.replacePrefixMatch;
  if (value === undefined) return unsupported(`: ${path.type} needs a value`);
  const why = value === '' ? undefined : pathProblem(value);
  if (why !== undefined) return unsupported(`: ${JSON.stringify(value)} ${why}`);
  const isPrefix = matches.every(({ path: match }) => (match?.type ?? 'PathPrefix') === 'PathPrefix');
  return path.type === 'ReplacePrefixMatch' && !isPrefix
    ? unsupported(': ReplacePrefixMatch needs matches of the type PathPrefix')
    : undefined;
}

/** Allows each type of filter once, RequestMirror several times, and a redirect only without backends. */
function togetherProblem(filters: readonly HttpRouteFilter[], backends: number): ListenerProblem | undefined {
  const types = filters.map(({ type }) => type).filter((type) => type !== 'RequestMirror');
  const twice = types.find((type, index) => types.indexOf(type) !== index);
  if (twice !== undefined) return incompatible(`.filters: ${twice} occurs twice`);
  if (!types.includes('RequestRedirect')) return undefined;
  if (types.includes('CORS')) return incompatible('.filters: RequestRedirect and CORS exclude each other');
  if (types.includes('URLRewrite'))
    return incompatible('.filters: RequestRedirect and URLRewrite exclude each other');
  return backends > 0
    ? incompatible('.filters: RequestRedirect and backendRefs exclude each other')
    : undefined;
}

const incompatible = (message: string): ListenerProblem => ({ reason: 'IncompatibleFilters', message });

function backendFilterProblem(
  filter: HttpRouteFilter,
  matches: readonly HttpRouteMatch[],
): ListenerProblem | undefined {
  return filter.type === 'RequestHeaderModifier' || filter.type === 'ResponseHeaderModifier'
    ? filterProblem(filter, matches)
    : unsupported(`.type: ${filter.type} is supported for whole rules only`);
}
