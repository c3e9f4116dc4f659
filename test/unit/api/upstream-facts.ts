/**
 * Facts about kinds from Kubernetes' own OpenAPI document, read from the client that is generated from it.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ResourceDefinition } from '../../../src/apimachinery/resource-definition.ts';

const declarations = fileURLToPath(
  new URL('gen/types/ObjectParamAPI.d.ts', import.meta.resolve('@kubernetes/client-node')),
);

/** Operations, such as `CoreV1 deleteNamespacedPod`, and the type of their answer, such as `V1Pod`. */
const operations: ReadonlyMap<string, string> = new Map(
  readFileSync(declarations, 'utf8')
    .matchAll(/^ {4}(\w+)\(param: (\w+?)Api[A-Z]\w*Request, options\?: \w+\): Promise<(\w+)>;$/gm)
    .map(([, operation, api, answer]) => [`${api} ${operation}`, answer ?? '']),
);

export interface UpstreamFacts {
  readonly namespaced: boolean;
  readonly hasStatus: boolean;
  readonly deleteAnswers: 'object' | 'status';
}

/**
 * Returns undefined for a kind that Kubernetes does not have. A kind that is stable only since a later
 * Kubernetes than the client's has the facts of its v1beta1.
 */
export const upstreamFacts = (kind: ResourceDefinition): UpstreamFacts | undefined =>
  factsOf(kind, apiName(kind)) ?? factsOf(kind, apiName({ ...kind, version: 'v1beta1' }));

function factsOf(kind: ResourceDefinition, api: string): UpstreamFacts | undefined {
  const scoped = `Namespaced${kind.kind}`;
  const namespaced = operations.has(`${api} create${scoped}`);
  if (!namespaced && !operations.has(`${api} create${kind.kind}`)) return undefined;
  const name = namespaced ? scoped : kind.kind;
  const deleted = operations.get(`${api} delete${name}`);
  return {
    namespaced,
    hasStatus: operations.has(`${api} replace${name}Status`),
    deleteAnswers: deleted === undefined || deleted === 'V1Status' ? 'status' : 'object',
  };
}

/** Returns the client's name of an API: RbacAuthorizationV1 for `rbac.authorization.k8s.io/v1`. */
function apiName({ group, version }: ResourceDefinition): string {
  const words = (group || 'core').replace(/\.k8s\.io$/, '').split('.');
  return [...words, version].map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
