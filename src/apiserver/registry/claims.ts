/** The names that objects claim: the store takes them with the write. Most kinds claim none. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { Claims } from '../../storage/store.ts';
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

export function releaseClaims(
  { behavior }: Behavior,
  definition: ResourceDefinition,
  object: KubeObject,
): Claims | undefined {
  return behavior.claimsOf(definition)?.held(object);
}
