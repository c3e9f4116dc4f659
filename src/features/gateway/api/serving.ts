/**
 * Listeners of a cluster's Gateways, and the routes that are attached to them. Pure. The controller writes
 * them into statuses, and each node serves them.
 */
import { type Attachment, attachmentsOf } from './attachments.ts';
import { refsOfRule } from './backends.ts';
import { byAge, ownGateways } from './classes.ts';
import { grpcPath } from './grpc-path.ts';
import { withoutKindConflicts } from './kind-conflicts.ts';
import { type Gateway, type GatewayClass, isGrpcRoute, type ReferenceGrant, type Route } from './kinds.ts';
import { type ListenerProblem, type ListenerState, listenerStates } from './listeners.ts';
import { routeProblem } from './route-problem.ts';
import type { BackendObjectReference, GrpcRouteRule, HttpRouteRule } from './route-types.ts';

/** Limit, because each node has one configuration for all namespaces, which one must not make too large. */
export const maxMatchesOfNamespace = 2000;
/** Lower limit for patterns, because every location of a host repeats the patterns of all its routes. */
export const maxPatternsOfNamespace = 50;
/** Lower limit for backends with TLS: nginx keeps all certificates of the authorities once for each. */
export const maxSecuredOfNamespace = 100;

export interface ServingFacts {
  readonly classes: readonly GatewayClass[];
  readonly gateways: readonly Gateway[];
  /** HTTPRoutes and GRPCRoutes. */
  readonly routes: readonly Route[];
  readonly grants: readonly ReferenceGrant[];
  /** Returns the labels of a namespace; undefined if it does not exist. */
  readonly labelsOf: (namespace: string) => Readonly<Record<string, string>> | undefined;
  /** Returns true if a BackendTLSPolicy names the port to which a reference of the route leads. */
  readonly isSecuredRef: (route: Route, ref: BackendObjectReference) => boolean;
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
  return { gateways, listeners, attachments, refused: withLimit(attachments, invalid, facts) };
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
  facts: ServingFacts,
): ReadonlyMap<Route, ListenerProblem> {
  const attached = new Set(attachments.filter((one) => !one.refused).map(({ route }) => route));
  const valid = [...attached].filter((route) => !invalid.has(route)).sort(byAge);
  return new Map([...invalid, ...beyondLimit(valid, facts).map((route) => [route, tooMany] as const)]);
}

/** Returns the routes beyond the limit of their namespace; `routes` are sorted by age. */
function beyondLimit(routes: readonly Route[], facts: ServingFacts): readonly Route[] {
  const sizes = new Map<string, Size>();
  return routes.filter((route) => {
    const { namespace = '' } = route.metadata;
    const size = sum(sizes.get(namespace) ?? noSize, sizeOf(route, facts));
    if (isTooLarge(size)) return true;
    sizes.set(namespace, size);
    return false;
  });
}

const tooMany: ListenerProblem = {
  reason: 'TooManyMatches',
  message: `the routes of a namespace may have ${maxMatchesOfNamespace} matches together, ${maxPatternsOfNamespace} of them with a RegularExpression as path or method, or with a method of any service, and ${maxSecuredOfNamespace} backends that a BackendTLSPolicy names, counted once for each match; the oldest are served`,
};

interface Size {
  readonly matches: number;
  /** Matches whose path is a pattern, such as the method of any service. */
  readonly patterns: number;
  /** Backends with TLS, counted once for each match. */
  readonly secured: number;
}

const noSize: Size = { matches: 0, patterns: 0, secured: 0 };

const isTooLarge = ({ matches, patterns, secured }: Size) =>
  matches > maxMatchesOfNamespace || patterns > maxPatternsOfNamespace || secured > maxSecuredOfNamespace;

const sum = (a: Size, b: Size): Size => ({
  matches: a.matches + b.matches,
  patterns: a.patterns + b.patterns,
  secured: a.secured + b.secured,
});

function sizeOf(route: Route, { isSecuredRef }: ServingFacts): Size {
  const rules: readonly (HttpRouteRule | GrpcRouteRule)[] = route.spec.rules ?? [];
  return rules
    .map((rule, index) => {
      const matches = Math.max(1, rule.matches?.length ?? 0);
      const secured = refsOfRule(rule).filter((ref) => isSecuredRef(route, ref)).length;
      return { matches, patterns: patternsOf(route, index), secured: secured * matches };
    })
    .reduce(sum, noSize);
}

/** Returns the number of matches of a rule whose path is a pattern. */
function patternsOf(route: Route, index: number): number {
  return isGrpcRoute(route)
    ? (route.spec.rules?.[index]?.matches ?? []).filter((match) => grpcPath(match).type === 'Regex').length
    : (route.spec.rules?.[index]?.matches ?? []).filter(({ path }) => path?.type === 'RegularExpression')
        .length;
}
