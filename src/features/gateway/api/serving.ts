/**
 * Listeners of a cluster's Gateways, and the routes that are attached to them. Pure. The controller writes
 * them into statuses, and each node serves them.
 */
import { type Attachment, attachmentsOf } from './attachments.ts';
import { byAge, ownGateways } from './classes.ts';
import { grpcPath } from './grpc-path.ts';
import { withoutKindConflicts } from './kind-conflicts.ts';
import { type Gateway, type GatewayClass, isGrpcRoute, type ReferenceGrant, type Route } from './kinds.ts';
import { type ListenerProblem, type ListenerState, listenerStates } from './listeners.ts';
import { routeProblem } from './route-problem.ts';

/** Limit, because each node has one configuration for all namespaces, which one must not make too large. */
export const maxMatchesOfNamespace = 2000;
/** Lower limit for patterns, because every location of a host repeats the patterns of all its routes. */
export const maxPatternsOfNamespace = 50;

export interface ServingFacts {
  readonly classes: readonly GatewayClass[];
  readonly gateways: readonly Gateway[];
  /** HTTPRoutes and GRPCRoutes. */
  readonly routes: readonly Route[];
  readonly grants: readonly ReferenceGrant[];
  /** Returns the labels of a namespace; undefined if it does not exist. */
  readonly labelsOf: (namespace: string) => Readonly<Record<string, string>> | undefined;
  /** Returns why the Secret, as NAMESPACE/NAME, is not usable as a certificate; undefined if it is. */
  readonly certificateProblem: (secret: string) => string | undefined;
}

export interface Serving {
  /** Gateways of this cluster's own classes, the oldest first. */
  readonly gateways: readonly Gateway[];
  readonly listeners: readonly ListenerState[];
  /** Results for the parents of each route, as far as they are among these Gateways. */
  readonly attachments: readonly Attachment[];
  /** Problems of routes that are not served at all. */
  readonly refused: ReadonlyMap<Route, ListenerProblem>;
}

export function servingOf(facts: ServingFacts): Serving {
  const gateways = ownGateways(facts.gateways, facts.classes);
  const listeners = listenerStates(gateways, facts);
  const routes = facts.routes.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const attached = routes.flatMap((route) => attachmentsOf(route, { ...facts, listeners }));
  const invalid = invalidRoutes(attached);
  const attachments = withoutKindConflicts(attached, (route) => invalid.has(route));
  return { gateways, listeners, attachments, refused: withLimit(attachments, invalid) };
}

/** Returns the attachments that nodes serve. */
export const servedAttachments = ({ attachments, refused }: Serving): readonly Attachment[] =>
  attachments.filter((one) => !one.refused && !refused.has(one.route));

function invalidRoutes(attachments: readonly Attachment[]): ReadonlyMap<Route, ListenerProblem> {
  const invalid = new Map<Route, ListenerProblem>();
  for (const route of new Set(attachments.map((one) => one.route))) {
    const problem = routeProblem(route);
    if (problem) invalid.set(route, problem);
  }
  return invalid;
}

/** Returns the invalid routes, and those beyond the limit of their namespace. */
function withLimit(
  attachments: readonly Attachment[],
  invalid: ReadonlyMap<Route, ListenerProblem>,
): ReadonlyMap<Route, ListenerProblem> {
  const attached = new Set(attachments.filter((one) => !one.refused).map(({ route }) => route));
  const valid = [...attached].filter((route) => !invalid.has(route)).sort(byAge);
  return new Map([...invalid, ...beyondLimit(valid).map((route) => [route, tooMany] as const)]);
}

/** Returns the routes beyond the limit of their namespace; `routes` are sorted by age. */
function beyondLimit(routes: readonly Route[]): readonly Route[] {
  const sizes = new Map<string, Size>();
  return routes.filter((route) => {
    const { namespace = '' } = route.metadata;
    const size = sum(sizes.get(namespace) ?? { matches: 0, patterns: 0 }, sizeOf(route));
    if (size.matches > maxMatchesOfNamespace || size.patterns > maxPatternsOfNamespace) return true;
    sizes.set(namespace, size);
    return false;
  });
}

const tooMany: ListenerProblem = {
  reason: 'TooManyMatches',
  message: `the routes of a namespace may have ${maxMatchesOfNamespace} matches together, ${maxPatternsOfNamespace} of them with a RegularExpression as path or method, or with a method of any service; the oldest are served`,
};

interface Size {
  readonly matches: number;
  /** Matches whose path is a pattern, such as the method of any service. */
  readonly patterns: number;
}

const sum = (a: Size, b: Size): Size => ({
  matches: a.matches + b.matches,
  patterns: a.patterns + b.patterns,
});

function sizeOf(route: Route): Size {
  const patterns = isGrpcRoute(route)
    ? (route.spec.rules ?? []).map(({ matches = [] }) =>
        matches.map((match) => grpcPath(match).type === 'Regex'),
      )
    : (route.spec.rules ?? []).map(({ matches = [] }) =>
        matches.map(({ path }) => path?.type === 'RegularExpression'),
      );
  return patterns
    .map((all) => ({ matches: Math.max(1, all.length), patterns: all.filter(Boolean).length }))
    .reduce(sum, { matches: 0, patterns: 0 });
}
