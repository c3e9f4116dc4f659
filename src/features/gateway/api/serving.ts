/**
 * Listeners of a cluster's Gateways, and the routes that are attached to them. Pure. The controller writes
 * them into statuses, and each node serves them.
 */
import { type Attachment, attachmentsOf } from './attachments.ts';
import { byAge, ownGateways } from './classes.ts';
import type { Gateway, GatewayClass, HttpRoute, ReferenceGrant } from './kinds.ts';
import { type ListenerProblem, type ListenerState, listenerStates } from './listeners.ts';
import { routeProblem } from './route-problem.ts';

/** Limit, because each node has one configuration for all namespaces, which one must not make too large. */
export const maxMatchesOfNamespace = 2000;
/** Lower limit for patterns, because every location of a host repeats the patterns of all its routes. */
export const maxPatternsOfNamespace = 50;

export interface ServingFacts {
  readonly classes: readonly GatewayClass[];
  readonly gateways: readonly Gateway[];
  readonly routes: readonly HttpRoute[];
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
  readonly refused: ReadonlyMap<HttpRoute, ListenerProblem>;
}

export function servingOf(facts: ServingFacts): Serving {
  const gateways = ownGateways(facts.gateways, facts.classes);
  const listeners = listenerStates(gateways, facts);
  const routes = facts.routes.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const attachments = routes.flatMap((route) => attachmentsOf(route, { ...facts, listeners }));
  return { gateways, listeners, attachments, refused: refusedRoutes(attachments) };
}

/** Returns the attachments that nodes serve. */
export const servedAttachments = ({ attachments, refused }: Serving): readonly Attachment[] =>
  attachments.filter((one) => !one.refused && !refused.has(one.route));

function refusedRoutes(attachments: readonly Attachment[]): ReadonlyMap<HttpRoute, ListenerProblem> {
  const refused = new Map<HttpRoute, ListenerProblem>();
  for (const route of new Set(attachments.map((one) => one.route))) {
    const problem = routeProblem(route);
    if (problem) refused.set(route, problem);
  }
  const attached = new Set(attachments.filter((one) => !one.refused).map(({ route }) => route));
  const valid = [...attached].filter((route) => !refused.has(route)).sort(byAge);
  for (const route of beyondLimit(valid)) refused.set(route, tooMany);
  return refused;
}

/** Returns the routes beyond the limit of their namespace; `routes` are sorted by age. */
function beyondLimit(routes: readonly HttpRoute[]): readonly HttpRoute[] {
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
  message: `the routes of a namespace may have ${maxMatchesOfNamespace} matches together, ${maxPatternsOfNamespace} of them with a RegularExpression as path; the oldest are served`,
};

interface Size {
  readonly matches: number;
  /** Matches whose path is a pattern. */
  readonly patterns: number;
}

const sum = (a: Size, b: Size): Size => ({
  matches: a.matches + b.matches,
  patterns: a.patterns + b.patterns,
});

function sizeOf({ spec }: HttpRoute): Size {
  const all = (spec.rules ?? []).map(({ matches = [] }) => ({
    matches: Math.max(1, matches.length),
    patterns: matches.filter(({ path }) => path?.type === 'RegularExpression').length,
  }));
  return all.reduce(sum, { matches: 0, patterns: 0 });
}
