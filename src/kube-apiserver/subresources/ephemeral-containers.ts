/** pods/NAME/ephemeralcontainers: the whole pod; a write only adds ephemeral containers. */
import type { Subresource } from '../../apiserver/subresources/subresources.ts';
import { get } from '../../apiserver/verbs/get.ts';
import { patchPart } from '../../apiserver/verbs/patch.ts';
import { updatePart } from '../../apiserver/verbs/update.ts';

const part = 'ephemeralcontainers';

export const ephemeralContainers: Subresource = {
  methods: {
    GET: get,
    PUT: (scope) => updatePart(scope, part),
    PATCH: (scope) => patchPart(scope, part),
  },
};
