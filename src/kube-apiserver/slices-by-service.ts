/** EndpointSlices by `NAMESPACE/NAME` of their Service. */
import { endpointSliceResource, serviceNameLabel } from '../api/discovery/v1/endpoint-slice.ts';
import { storagePrefix } from '../apimachinery/resource-definition.ts';
import type { IndexDeclaration } from '../storage/cache.ts';

export const slicesByService: IndexDeclaration = {
  name: 'endpointslices by service',
  prefix: storagePrefix(endpointSliceResource),
  keysOf({ metadata: { namespace, labels } }) {
    const service = labels?.[serviceNameLabel];
    return service === undefined ? [] : [`${namespace}/${service}`];
  },
};
