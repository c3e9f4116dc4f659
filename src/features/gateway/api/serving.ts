/**
 * Listeners of a cluster's Gateways, and the routes that are attached to them. Pure. The controller writes
 * them into statuses, and each node serves them.
 */
import { type Attachment, attachmentsOf } from './attachments.ts';
import { byAge, ownGateways } from './classes.ts';
import type { Gateway, GatewayClass, HttpRoute, ReferenceGrant } from './kinds.ts';
import { type ListenerProblem, type ListenerState, listenerStates } from './listeners.ts';
import { routeProblem } from './route-problem.ts';

/** Each node has one configuration for all namespaces, so that one namespace must not make it too large. */
export const maxMatchesOfNamespace = 2000;

export interface ServingFacts {
  readonly classes: readonly GatewayClass[];
  readonly gateways: readonly Gateway[];
  readonly routes: readonly HttpRoute[];
  readonly grants: readonly ReferenceGrant[];
  /** Returns the labels of a namespace; undefined if it does not exist. */
  readonly labelsOf: (namespace: string) => Readonly<Record<string, string>> | undefined;
  /** Returns why the Secret, as NAMESPACE/NAME, is no certificate; undefined if it is one. */
  readonly certificateProblem: (secret: string) => string | undefined;
}

export interface Serving {
  /** Gateways of this cluster's own classes, the oldest first. */
  readonly gateways: readonly Gateway[];
  readonly listeners: readonly ListenerState[];
  /** Results for each parent of each route that is one of these Gateways. */
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
  const counts = new Map<string, number>();
  const attached = new Set(attachments.filter((one) => !one.refused).map(({ route }) => route));
  for (const route of new Set(attachments.map((one) => one.route))) {
    const problem = routeProblem(route);
    if (problem) refused.set(route, problem);
  }
  for (const route of [...attached].toSorted(byAge)) {
    if (refused.has(route)) continue;
    const { namespace = '' } = route.metadata;
    const count = (counts.get(namespace) ?? 0) + matchCount(route);
    if (count > maxMatchesOfNamespace) refused.set(route, tooMany);
    else counts.set(namespace, count);
  }
  return refused;
}

const tooMany: ListenerProblem = {
  reason: 'TooManyMatches',
  message: `the routes of a namespace may have ${maxMatchesOfNamespace} matches together; the oldest are served`,
};

const matchCount = ({ spec }: HttpRoute) =>
  (spec.rules ?? []).reduce((sum, { matches }) => sum + Math.max(1, matches?.length ?? 0), 0);
