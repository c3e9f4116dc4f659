/** Gateways on the server: what nodes may read to serve them. */

import { customResourceDefinitionResource } from '../../../api/apiextensions/v1/custom-resource-definition.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { type ResourceRef, storagePrefix } from '../../../apimachinery/resource-definition.ts';
import { waitForNow } from '../../../apiserver/reads/freshness.ts';
import { always, type NodeCondition } from '../../../kube-apiserver/authorization/node-access.ts';
import type { KubeContext } from '../../../kube-apiserver/context.ts';
import type { ServerFeatureFactory } from '../../../kube-apiserver/server-feature.ts';
import { namedConfigMaps } from '../api/backend-tls.ts';
import { ownGateways } from '../api/classes.ts';
import {
  backendTlsPolicyResource,
  gatewayClassResource,
  gatewayGroup,
  gatewayResource,
  referenceGrantResource,
} from '../api/kinds.ts';
import { namedSecrets } from '../api/listeners.ts';

export const gatewayServer: ServerFeatureFactory = (server) => ({
  nodeAccess: {
    rules: [
      {
        group: gatewayGroup,
        resources: [
          ...['gatewayclasses', 'gateways', 'httproutes', 'grpcroutes', 'backendtlspolicies'],
          'referencegrants',
        ],
        verbs: ['get', 'list', 'watch'],
        when: always,
      },
      {
        group: customResourceDefinitionResource.group,
        resources: [customResourceDefinitionResource.plural],
        verbs: ['list', 'watch'],
        when: always,
      },
      { group: '', resources: ['secrets'], verbs: ['get', 'list', 'watch'], when: named(server, secretsOf) },
      {
        group: '',
        resources: ['configmaps'],
        verbs: ['get', 'list', 'watch'],
        when: named(server, configMapsOf),
      },
    ],
  },
});

type List = <T extends KubeObject>(ref: ResourceRef<T>) => readonly T[];

const servedGateways = (list: List) => ownGateways(list(gatewayResource), list(gatewayClassResource));

/** Returns the Secrets that a listener of a served Gateway names and may use. */
const secretsOf = (list: List) => namedSecrets(servedGateways(list), list(referenceGrantResource));

/** Returns the ConfigMaps that policies name, while a Gateway is served. */
const configMapsOf = (list: List): ReadonlySet<string> =>
  servedGateways(list).length === 0 ? new Set() : namedConfigMaps(list(backendTlsPolicyResource));

/** Allows the objects that `namesOf` returns as NAMESPACE/NAME, one by one. */
function named(server: KubeContext, namesOf: (list: List) => ReadonlySet<string>): NodeCondition {
  const list: List = <T extends KubeObject>(ref: ResourceRef<T>) =>
    server.cache.list(storagePrefix(ref)).map(({ object }) => object as T);
  return async ({ namespace, name }) => {
    if (!namespace || !name) return false;
    const key = `${namespace}/${name}`;
    if (namesOf(list).has(key)) return true;
    // Another master may have stored the object that names it a moment ago.
    await waitForNow(server, new AbortController());
    return namesOf(list).has(key);
  };
}
