/** `/status`: written by controllers and kubelets, separately from the specification. */

import type { Handler } from '../request/request-scope.ts';
import { get } from '../verbs/get.ts';
import { patchPart } from '../verbs/patch.ts';
import { updatePart } from '../verbs/update.ts';

export const getStatus: Handler = get;
export const putStatus: Handler = (scope) => updatePart(scope, 'status');
export const patchStatus: Handler = (scope) => patchPart(scope, 'status');
