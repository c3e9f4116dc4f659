/** Last step of every write to an existing object: changes one part, stores the object, answers. */
import { deepCopy } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { respondObject } from '../encoding/answer.ts';
import type { Part } from '../registry/preparation.ts';
import { type UpdateRequest, updateObject } from '../registry/update.ts';
import type { RequestScope } from '../request/request-scope.ts';

export interface Change extends Pick<UpdateRequest, 'change' | 'options' | 'owners'> {
  readonly part: Part;
}

export async function changeObject(scope: RequestScope, wanted: Change): Promise<Response> {
  const { server, definition, info } = scope;
  const { namespace, name, subresource } = info;
  const warn = wanted.part === 'main' ? definition.strategy.warnings : undefined;
  let old: KubeObject | undefined;
  const change = (current: KubeObject) => {
    if (warn) old = deepCopy(current);
    return wanted.change(current);
  };
  const request = { definition, namespace, name, subresource, ...wanted, change };
  const { object, kept } = await updateObject(server, request);
  scope.warnings.push(...(warn?.(object, old) ?? []));
  return respondObject(scope, 200, kept);
}
