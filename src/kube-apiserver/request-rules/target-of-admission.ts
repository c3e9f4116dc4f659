/** Describes a request in admission for the rules of webhooks and policies. Pure. */
import type { Kinds } from '../../apimachinery/kind-set.ts';
import { storedKind } from '../../apimachinery/resource-definition.ts';
import type { Admission } from '../../apiserver/admission/plugin.ts';
import { isForNamespace, type RequestTarget, type RuleOperation } from './request-target.ts';

const operations: Readonly<Record<Admission['operation'], RuleOperation>> = {
  create: 'CREATE',
  update: 'UPDATE',
  delete: 'DELETE',
};

export function requestTarget(kinds: Pick<Kinds, 'all'>, admission: Admission): RequestTarget {
  const { definition, served = definition, subresource, namespace, name } = admission;
  const versions = kinds.all.filter((one) => storedKind(one) === storedKind(definition));
  return {
    operation: operations[admission.operation],
    served,
    versions,
    subresource,
    namespace: isForNamespace({ served }) ? name : namespace,
    name,
  };
}
