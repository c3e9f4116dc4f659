/** Gateways on the server: what nodes may read to serve them. */

import type { KubeObject } from '../../../apimachinery/meta.ts';
import { type ResourceRef, storagePrefix } from '../../../apimachinery/resource-definition.ts';
import { waitForNow } from '../../../apiserver/reads/freshness.ts';
import { always, type NodeCondition } from '../../../kube-apiserver/authorization/node-access.ts';
import type { KubeContext } from '../../../kube-apiserver/context.ts';
import type { ServerFeatureFactory } from '../../../kube-apiserver/server-feature.ts';
import { ownGateways } from '../api/classes.ts';
import { gatewayClassResource, gatewayGroup, gatewayResource, referenceGrantResource } from '../api/kinds.ts';
import { namedSecrets } from '../api/listeners.ts';

export const gatewayServer: ServerFeatureFactory = (server) => ({
  nodeAccess: {
    rules: [
      {
        group: gatewayGroup,
        resources: ['gatewayclasses', 'gateways', 'httproutes', 'grpcroutes', 'referencegrants'],
        verbs: ['get', 'list', 'watch'],
        when: always,
      },
      { group: '', resources: ['secrets'], verbs: ['get', 'list', 'watch'], when: isNamed(server) },
    ],
  },
});

/** Allows Secrets that a listener of a served Gateway names and may use, one by one. */
function isNamed(server: KubeContext): NodeCondition {
  const list = <T extends KubeObject>(ref: ResourceRef<T>) =>
    server.cache.list(storagePrefix(ref)).map(({ object }) => object as T);
  const isKnown = (key: string) => {
    const gateways = ownGateways(list(gatewayResource), list(gatewayClassResource));
    return namedSecrets(gateways, list(referenceGrantResource)).has(key);
  };
  return async ({ namespace, name }) => {
    if (!namespace || !name) return false;
    const key = `${namespace}/${name}`;
    if (isKnown(key)) return true;
    // Another master may have stored the Gateway a moment ago.
    await waitForNow(server, new AbortController());
    return isKnown(key);
  };
}
