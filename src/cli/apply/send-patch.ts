/** Sends only the differences, as the type of patch that the kind supports. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import type { Cluster } from '../connection/cluster.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { mergeSchemaOf, openApiPath, plainSchema } from './merge-schema.ts';
import { type ThreeWay, threeWayPatch } from './three-way.ts';

export interface PatchOptions {
  /** Subresource that is changed; the object itself by default. */
  readonly subresource?: string | undefined;
  /** Called with the patch before it is sent. */
  onPatch?(patch: JsonObject): void;
}

/**
 * Resolves to the server's answer; undefined if nothing differs. Without `query` nothing is sent, and the
 * wanted object is the result.
 */
export async function sendPatch(
  cluster: Cluster,
  target: ObjectTarget,
  states: ThreeWay,
  query: string | undefined,
  { subresource, onPatch }: PatchOptions = {},
): Promise<JsonObject | undefined> {
  const strategic = mergeSchemaOf(await cluster.get(openApiPath(target.resource)), target.resource);
  const patch = threeWayPatch(states, strategic ?? plainSchema);
  if (!patch) return undefined;
  if (query === undefined) return states.modified;
  onPatch?.(patch);
  const type = strategic ? patchTypes.strategic : patchTypes.merge;
  return cluster.send('PATCH', targetPath(target, subresource) + query, patch, type);
}
