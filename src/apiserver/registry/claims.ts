/** The kinds whose objects claim unique names; the store takes the claims with the write. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { Claims } from '../../storage/store.ts';
import type { ServerContext } from '../server-context.ts';
import type { ClaimPlanner } from './claim-planner.ts';
import { dnsClaims } from './dns-claims.ts';
import { serviceClaims } from './service-claims.ts';

const planners: Readonly<Record<string, ClaimPlanner>> = {
  '/services': serviceClaims,
  'minik8s.io/dnses': dnsClaims,
};

const plannerOf = (definition: ResourceDefinition) => planners[`${definition.group}/${definition.plural}`];

export function planClaims(
  server: ServerContext,
  definition: ResourceDefinition,
  object: KubeObject,
  old: KubeObject | undefined,
  taken: ReadonlySet<string>,
): Claims | undefined {
  return plannerOf(definition)?.plan(server, object, old, taken);
}

export function releaseClaims(definition: ResourceDefinition, object: KubeObject): Claims | undefined {
  return plannerOf(definition)?.held(object);
}
