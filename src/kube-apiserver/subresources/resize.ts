/** pods/NAME/resize: the whole pod; a write only changes the resources of containers. */
import type { Subresource } from '../../apiserver/subresources/subresources.ts';
import { get } from '../../apiserver/verbs/get.ts';
import { patchPart } from '../../apiserver/verbs/patch.ts';
import { updatePart } from '../../apiserver/verbs/update.ts';

export const resizePod: Subresource = {
  methods: {
    GET: get,
    PUT: (scope) => updatePart(scope, 'resize'),
    PATCH: (scope) => patchPart(scope, 'resize'),
  },
};
