/**
 * PUT namespaces/NAME/finalize: the only way to change a namespace's finalizers; removing the last one
 * deletes it.
 */
import type { Handler } from '../../apiserver/request/request-scope.ts';
import { updatePart } from '../../apiserver/verbs/update.ts';

export const finalizeNamespace: Handler = (scope) => updatePart(scope, 'finalize');
