/**
 * Finds out whether the API server serves the Gateway API, whose CustomResourceDefinitions may be missing.
 */

import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { ResourceRef } from '../../../apimachinery/resource-definition.ts';
import { isForbidden, isNotFound } from '../../../apimachinery/status-error.ts';
import type { Clock } from '../../../base/clock.ts';
import { pause } from '../../../base/clock.ts';
import type { Client } from '../../../client/client.ts';
import { gatewayResource } from '../api/kinds.ts';

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
