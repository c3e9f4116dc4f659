/** Parts of the rules of GRPCRoutes that cannot be served. Pure. */
import { expressionProblem } from '../../ingress/api/path-pattern.ts';
import { grpcPath } from './grpc-path.ts';
import type { ListenerProblem } from './listeners.ts';
import type { GrpcRouteMatch, GrpcRouteRule, HttpRouteFilter } from './route-types.ts';
import {
  first,
  headerFilterProblem,
  headerMatchProblem,
  unsupported,
  within,
} from './route-value-problems.ts';

/** Returns the first problem of a rule, with the place of the field in the rule. */
export function grpcRuleProblem(rule: GrpcRouteRule): ListenerProblem | undefined {
  const { matches = [], filters = [], backendRefs = [] } = rule;
  if (rule.sessionPersistence) return unsupported('.sessionPersistence: it is not supported');
  return (
    first(matches, (match, index) => within(`.matches[${index}]`, matchProblem(match))) ??
    first(filters, (filter, index) => within(`.filters[${index}]`, filterProblem(filter))) ??
    twiceProblem(filters) ??
    first(backendRefs, (ref, index) =>
      first(ref.filters ?? [], (filter, at) =>
        within(`.backendRefs[${index}].filters[${at}]`, filterProblem(filter)),
      ),
    )
  );
}

function matchProblem(match: GrpcRouteMatch): ListenerProblem | undefined {
  return (
    within('.method', methodProblem(match)) ??
    first(match.headers ?? [], (header, index) => within(`.headers[${index}]`, headerMatchProblem(header)))
  );
}

const serviceName = /^\.?[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*$/;
const methodName = /^[A-Za-z_][A-Za-z0-9_]*$/;

function methodProblem(match: GrpcRouteMatch): ListenerProblem | undefined {
  if (!match.method) return undefined;
  const { type = 'Exact', service, method } = match.method;
  if (!service && !method) return unsupported(': it needs a service or a method');
  if (type === 'RegularExpression') return expressionsProblem(match, service, method);
  if (type !== 'Exact') return unsupported(`.type: ${type} is not supported`);
  if (service && !serviceName.test(service))
    return unsupported(`.service: ${JSON.stringify(service)} is not the name of a service`);
  return method && !methodName.test(method)
    ? unsupported(`.method: ${JSON.stringify(method)} is not the name of a method`)
    : undefined;
}

/** Each expression is checked by itself, so that none reaches into the other, and both together. */
function expressionsProblem(match: GrpcRouteMatch, service = '', method = ''): ListenerProblem | undefined {
  for (const [field, value] of [
    ['service', service],
    ['method', method],
  ] as const) {
    const why = expressionProblem(value);
    if (why !== undefined) return unsupported(`.${field}: ${JSON.stringify(value)} ${why}`);
  }
  const why = expressionProblem(grpcPath(match).path);
  return why === undefined ? undefined : unsupported(`: service and method together ${why}`);
}

/** A mirror needs the whole body of a request before the backend gets it, which would stop a stream. */
function filterProblem(filter: HttpRouteFilter): ListenerProblem | undefined {
  switch (filter.type) {
    case 'RequestHeaderModifier':
      return headerFilterProblem('.requestHeaderModifier', filter.requestHeaderModifier);
    case 'ResponseHeaderModifier':
      return headerFilterProblem('.responseHeaderModifier', filter.responseHeaderModifier);
    default:
      return unsupported(`.type: ${filter.type} is not supported in a GRPCRoute`);
  }
}

function twiceProblem(filters: readonly HttpRouteFilter[]): ListenerProblem | undefined {
  const types = filters.map(({ type }) => type);
  const twice = types.find((type, index) => types.indexOf(type) !== index);
  return twice === undefined
    ? undefined
    : { reason: 'IncompatibleFilters', message: `.filters: ${twice} occurs twice` };
}
