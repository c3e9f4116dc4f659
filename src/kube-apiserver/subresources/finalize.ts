/** PUT namespaces/NAME/finalize: the only way to change a namespace's finalizers; the last one lets it go. */
import type { Handler } from '../../apiserver/request-scope.ts';
import { updatePart } from '../../apiserver/verbs/update.ts';

export const finalizeNamespace: Handler = (scope) => updatePart(scope, 'finalize');
