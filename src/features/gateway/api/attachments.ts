/** Routes and the listeners that they are attached to. Pure. */
import { intersection } from './hostnames.ts';
import { gatewayGroup, type Route } from './kinds.ts';
import type { ListenerProblem, ListenerState } from './listeners.ts';
import { allowsNamespace } from './namespaces.ts';
import type { ParentReference } from './references.ts';

/** The result for one parent of a route: listeners, or the reason why there are none. */
export interface Attachment {
  readonly route: Route;
  readonly parent: ParentReference;
  readonly listeners: readonly ListenerState[];
  readonly refused?: ListenerProblem;
}

export interface AttachmentFacts {
  readonly listeners: readonly ListenerState[];
  /** Returns the labels of a namespace; undefined if it does not exist. */
  readonly labelsOf: (namespace: string) => Readonly<Record<string, string>> | undefined;
}

/** Returns the results for the parents of the route that are Gateways of this cluster's own classes. */
export function attachmentsOf(route: Route, facts: AttachmentFacts): readonly Attachment[] {
  return (route.spec.parentRefs ?? []).flatMap((parent) => {
    const { group = gatewayGroup, kind = 'Gateway', namespace = route.metadata.namespace } = parent;
    if (group !== gatewayGroup || kind !== 'Gateway') return [];
    const listeners = facts.listeners.filter(
      ({ gateway: { metadata } }) => metadata.name === parent.name && metadata.namespace === namespace,
    );
    return listeners.length === 0 ? [] : [attachmentOf(route, parent, listeners, facts)];
  });
}

function attachmentOf(
  route: Route,
  parent: ParentReference,
  listeners: readonly ListenerState[],
  { labelsOf }: AttachmentFacts,
): Attachment {
  const refused = (reason: string, message: string): Attachment => ({
    ...{ route, parent },
    listeners: [],
    refused: { reason, message },
  });
  const named = listeners.filter(
    ({ listener: { name, port } }) =>
      (parent.sectionName === undefined || parent.sectionName === name) &&
      (parent.port === undefined || parent.port === port),
  );
  if (named.length === 0)
    return refused('NoMatchingParent', 'the Gateway has no listener of this name and port');
  const name = route.metadata.namespace ?? '';
  const labels = labelsOf(name);
  const allowed = named.filter(
    ({ listener, gateway, kinds }) =>
      kinds.some(({ kind }) => kind === route.kind) &&
      labels !== undefined &&
      allowsNamespace(listener, gateway.metadata.namespace ?? '', { name, labels }),
  );
  if (allowed.length === 0)
    return refused(
      'NotAllowedByListeners',
      `no listener allows a route of the kind ${route.kind} of namespace ${name}: see allowedRoutes of the Gateway`,
    );
  const matching = allowed.filter(({ hostname }) => hostsOf(route, hostname).length > 0);
  return matching.length === 0
    ? refused('NoMatchingListenerHostname', 'no listener has a host name of this route')
    : { route, parent, listeners: matching };
}

/** Returns the host names for which a listener with this host name serves the route. */
export function hostsOf({ spec }: Route, listenerHost: string): readonly string[] {
  const own = spec.hostnames?.length ? spec.hostnames.map((name) => name.toLowerCase()) : [''];
  return [...new Set(own.flatMap((name) => intersection(name, listenerHost) ?? []))];
}
