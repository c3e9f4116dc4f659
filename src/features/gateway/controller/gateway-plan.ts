/** The statuses of Gateways and GatewayClasses. Pure. */
import { timedCondition } from '../../../apimachinery/conditions.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import type { Condition } from '../../../apimachinery/schema.ts';
import type { Gateway, GatewayClass, GatewayStatus, ListenerStatus, Route } from '../api/kinds.ts';
import { isServed, type ListenerState } from '../api/listeners.ts';
import type { Serving } from '../api/serving.ts';
import { supportedFeatures } from './supported-features.ts';

/** A condition without its times. */
export type Verdict = Pick<Condition, 'type' | 'status'> & {
  readonly reason: string;
  readonly message: string;
};

/** Returns the conditions in their order, with times and the generation that they are about. */
export const timedConditions = (
  verdicts: readonly Verdict[],
  before: readonly Condition[] | undefined,
  { generation, now }: { readonly generation: number | undefined; readonly now: string },
): Condition[] =>
  verdicts.map((verdict) =>
    timedCondition(before ?? [], { ...verdict, ...(generation && { observedGeneration: generation }) }, now),
  );

const yes = (type: string, reason: string, message: string): Verdict => ({
  ...{ type, reason, message },
  status: 'True',
});
const no = (type: string, reason: string, message: string): Verdict => ({
  ...{ type, reason, message },
  status: 'False',
});
export const verdicts = { yes, no };

export interface GatewayFacts {
  readonly serving: Serving;
  /** Addresses of the nodes that serve. */
  readonly addresses: readonly string[];
  /** Reason why no node serves, as a sentence. */
  readonly notServed: string | undefined;
  /** Current time in RFC 3339. */
  readonly now: string;
}

/** Returns the new status of a Gateway; undefined if it is as it should be. */
export function planGateway(gateway: Gateway, facts: GatewayFacts): GatewayStatus | undefined {
  const { serving, now } = facts;
  const states = serving.listeners.filter((state) => state.gateway === gateway);
  const { generation } = gateway.metadata;
  const times = { generation, now };
  const usable = usableAddresses(gateway, facts.addresses);
  const isProgrammed = usable.length > 0;
  const status: GatewayStatus = {
    addresses: usable.map((value) => ({ type: 'IPAddress', value })),
    conditions: timedConditions(
      [acceptedGateway(states), programmedGateway(gateway, states, usable, facts)],
      gateway.status?.conditions,
      times,
    ),
    listeners: states.map((state) => listenerStatus(state, gateway, isProgrammed, facts)),
  };
  return deepEqual(status, gateway.status) ? undefined : status;
}

/** Returns the addresses that the Gateway requests, as far as nodes have them; by default all. */
function usableAddresses({ spec }: Gateway, addresses: readonly string[]): readonly string[] {
  const wanted = wantedAddresses(spec);
  return wanted.length === 0 ? addresses : wanted.filter((value) => addresses.includes(value));
}

const wantedAddresses = ({ addresses = [] }: Gateway['spec']) =>
  addresses.flatMap(({ value }) => (value ? [value] : []));

const isInvalid = ({ refused, conflict }: ListenerState) => refused !== undefined || conflict !== undefined;

function acceptedGateway(states: readonly ListenerState[]): Verdict {
  const invalid = states.filter(isInvalid);
  if (invalid.length === 0) return yes('Accepted', 'Accepted', 'the Gateway is served by minik8s');
  const names = invalid.map(({ listener }) => listener.name).join(', ');
  const message = `listeners that are not valid: ${names}`;
  return invalid.length < states.length
    ? yes('Accepted', 'ListenersNotValid', message)
    : no('Accepted', 'ListenersNotValid', message);
}

function programmedGateway(
  { spec }: Gateway,
  states: readonly ListenerState[],
  usable: readonly string[],
  { notServed }: GatewayFacts,
): Verdict {
  const missing = wantedAddresses(spec).filter((value) => !usable.includes(value));
  if (missing.length > 0)
    return no('Programmed', 'AddressNotUsable', `no serving node has the address ${missing.join(', ')}`);
  if (!states.some(isServed)) return no('Programmed', 'Invalid', 'no listener can be served');
  if (usable.length > 0) return yes('Programmed', 'Programmed', 'nodes serve the Gateway');
  return no('Programmed', 'AddressNotAssigned', notServed ?? 'no node has reported that it serves Gateways');
}

function listenerStatus(
  state: ListenerState,
  { metadata, status }: Gateway,
  isProgrammed: boolean,
  { serving, now }: GatewayFacts,
): ListenerStatus {
  const before = status?.listeners?.find(({ name }) => name === state.listener.name)?.conditions;
  return {
    name: state.listener.name,
    supportedKinds: state.kinds,
    attachedRoutes: attachedRoutes(state, serving).size,
    conditions: timedConditions(listenerVerdicts(state, isProgrammed), before, {
      generation: metadata.generation,
      now,
    }),
  };
}

function attachedRoutes(state: ListenerState, { attachments, refused }: Serving): ReadonlySet<Route> {
  return new Set(
    attachments.flatMap(({ route, listeners }) =>
      listeners.includes(state) && !refused.has(route) ? [route] : [],
    ),
  );
}

function listenerVerdicts(state: ListenerState, isProgrammed: boolean): readonly Verdict[] {
  const { refused, conflict, unresolved } = state;
  const invalid = refused ?? conflict;
  return [
    invalid
      ? no('Accepted', invalid.reason, invalid.message)
      : yes('Accepted', 'Accepted', 'the listener is valid'),
    conflict
      ? yes('Conflicted', conflict.reason, conflict.message)
      : no('Conflicted', 'NoConflicts', 'no other listener of the Gateway has its port and host name'),
    unresolved
      ? no('ResolvedRefs', unresolved.reason, unresolved.message)
      : yes('ResolvedRefs', 'ResolvedRefs', 'all references are resolved'),
    programmedListener(state, isProgrammed),
  ];
}

function programmedListener(state: ListenerState, isProgrammed: boolean): Verdict {
  if (!isServed(state)) return no('Programmed', 'Invalid', 'the listener cannot be served');
  return isProgrammed
    ? yes('Programmed', 'Programmed', 'nodes serve the listener')
    : no('Programmed', 'Pending', 'no node serves the Gateway');
}

/** Returns the new status of a GatewayClass of this controller; undefined if it is as it should be. */
export function planClass(
  { metadata, spec, status }: GatewayClass,
  now: string,
): NonNullable<GatewayClass['status']> | undefined {
  const accepted = spec.parametersRef
    ? no('Accepted', 'InvalidParameters', 'spec.parametersRef: Gateways of minik8s have no parameters')
    : yes('Accepted', 'Accepted', 'the nodes of this cluster serve Gateways of this class');
  const others = (status?.conditions ?? []).filter(({ type }) => type !== 'Accepted');
  const next = {
    conditions: [
      ...timedConditions([accepted], status?.conditions, { generation: metadata.generation, now }),
      ...others,
    ],
    supportedFeatures,
  };
  return deepEqual(next, status) ? undefined : next;
}
