/**
 * Finds out whether the API server serves the Gateway API, whose CustomResourceDefinitions may be missing.
 */

import { customResourceDefinitionResource } from '../../../api/apiextensions/v1/custom-resource-definition.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { ResourceRef } from '../../../apimachinery/resource-definition.ts';
import { isForbidden, isNotFound } from '../../../apimachinery/status-error.ts';
import { Backoff } from '../../../base/backoff.ts';
import { type Clock, pause } from '../../../base/clock.ts';
import { keepDoing, Wake } from '../../../base/keep-doing.ts';
import type { Client } from '../../../client/client.ts';
import type { InformerFactory } from '../../../client/informer.ts';
import {
  gatewayClassResource,
  gatewayGroup,
  gatewayResource,
  grpcRouteResource,
  httpRouteResource,
  referenceGrantResource,
} from '../api/kinds.ts';

const againMs = 2000;
const attempts = 15;

/**
 * Resolves to true if the server serves Gateways to nodes, false if it does not, or if it reports errors for
 * half a minute. Errors are retried, because a node may start before a master does.
 */
export async function servesGateways(client: Client, clock: Clock, signal: AbortSignal): Promise<boolean> {
  for (let attempt = 1; attempt < attempts; attempt++) {
    try {
      await client.resource(gatewayResource).list({ limit: 1, signal });
      return true;
    } catch (error) {
      if (isNotFound(error) || isForbidden(error)) return false;
      if (signal.aborted) throw error;
      await pause(clock, againMs, signal);
    }
  }
  return false;
}

/** Resolves to true if the server is reachable and has no such kind. */
export async function isUnserved(client: Client, kind: ResourceRef<KubeObject>): Promise<boolean> {
  try {
    await client.resource(kind).list({ limit: 1 });
    return false;
  } catch (error) {
    return isNotFound(error);
  }
}

const neededKinds = [
  gatewayClassResource,
  gatewayResource,
  httpRouteResource,
  grpcRouteResource,
  referenceGrantResource,
] as const;

/** Time in which several definitions are made together. */
const settleMs = 100;

export interface DefinitionsOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Informers that are not started yet, for the definitions alone. */
  readonly definitions: InformerFactory;
}

/**
 * Resolves when the server serves every kind without which no Gateway is served, or when the signal aborts.
 * Watches the definitions until then; an older master does not let nodes read them, and is asked once a
 * minute.
 */
export async function untilServed(
  { client, clock, definitions }: DefinitionsOptions,
  signal: AbortSignal,
): Promise<void> {
  const served = new AbortController();
  const until = AbortSignal.any([signal, served.signal]);
  const wake = new Wake();
  const backoff = new Backoff({ initialMs: 1000, maxMs: 60_000 });
  const informer = definitions.informerFor<KubeObject>({
    ...customResourceDefinitionResource,
    part: 'metadata',
  });
  const isOwn = ({ metadata }: KubeObject) => metadata.name.endsWith(`.${gatewayGroup}`);
  const changed = (definition: KubeObject) => {
    if (isOwn(definition)) wake.call();
  };
  informer.addEventHandler({ onAdd: changed, onUpdate: changed });
  // The informers reject only when the signal aborts.
  definitions.start(until).catch(() => undefined);
  // A definition may be stored a moment before the server serves its kind.
  const restMs = () =>
    !informer.hasSynced || informer.lister.list().some(isOwn) ? backoff.next() : Number.POSITIVE_INFINITY;
  await keepDoing({ clock, signal: until, wake, settleMs, restMs }, async () => {
    if (await servesAll(client, until)) served.abort();
  });
  await definitions.stopped();
}

async function servesAll(client: Client, signal: AbortSignal): Promise<boolean> {
  try {
    for (const kind of neededKinds)
      await client.resource(kind as ResourceRef<KubeObject>).list({ limit: 1, signal });
    return true;
  } catch {
    return false;
  }
}
