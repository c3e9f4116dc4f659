/** Unique names that objects claim: the store acquires them with the write. Most kinds claim none. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { type Claims, ClaimTakenError } from '../../storage/store.ts';
import type { ServerContext } from '../server-context.ts';

type Behavior = Pick<ServerContext, 'behavior'>;

export function planClaims(
  { behavior }: Behavior,
  definition: ResourceDefinition,
  object: KubeObject,
  old: KubeObject | undefined,
  taken: ReadonlySet<string>,
): Claims | undefined {
  return behavior.claimsOf(definition)?.plan(object, old, taken);
}

/**
 * Checks the claims of a dry run, which acquires none. Throws ClaimTakenError if another object owns one of
 * them.
 */
export async function requireUnclaimed(
  { store }: Pick<ServerContext, 'store'>,
  { acquire = [] }: Claims = {},
): Promise<void> {
  for (const { key, owner } of acquire) {
    const holder = await store.ownerOf(key);
    if (holder !== undefined && holder !== owner)
      throw new ClaimTakenError(`${key} is taken by ${holder}`, key);
  }
}

export function releaseClaims(
  { behavior }: Behavior,
  definition: ResourceDefinition,
  object: KubeObject,
): Claims | undefined {
  return behavior.claimsOf(definition)?.held(object);
}
