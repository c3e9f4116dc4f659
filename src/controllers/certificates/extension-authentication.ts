/**
 * Publishes the authorities by which extension servers authenticate users and the front proxy (upstream:
 * pkg/controlplane/controller/clusterauthenticationtrust).
 */
import { configMapResource } from '../../api/core/v1/config-map.ts';
import { namespaceResource } from '../../api/core/v1/namespace.ts';
import type { AccountRights } from '../../api/rbac/v1/rule-rows.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../apimachinery/status-error.ts';
import type { Current } from '../../base/current.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  watched,
} from '../../controller-runtime/definition.ts';
import { unlessNamespaceEnds } from '../../controller-runtime/if-present.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';
import { extensionAuthentication, planAuthentication } from './extension-authentication-plan.ts';

export const extensionAuthenticationRights: AccountRights = {
  own: [['create update delete', 'core', 'configmaps']],
};

export interface ExtensionAuthenticationOptions {
  /** Authorities (PEM) of the certificates of users. */
  readonly clientAuthority: Current<string>;
  /** Absent if this server calls no extension servers. */
  readonly frontProxy?: { readonly authority: Current<string>; readonly name: string } | undefined;
}

const { namespace, name } = extensionAuthentication;
const key = `${namespace}/${name}`;

export const extensionAuthenticationController =
  (options: ExtensionAuthenticationOptions): ControllerFactory =>
  (context) =>
    controller(context, options);

function controller(
  { client, informers, enqueue, log }: ControllerContext,
  { clientAuthority, frontProxy }: ExtensionAuthenticationOptions,
): ControllerDefinition {
  const scope = { namespace, fieldSelector: `metadata.name=${name}` };
  const cached = informers.informerFor(configMapResource, scope).lister;
  const configMaps = client.resource(configMapResource);
  for (const authority of [clientAuthority, frontProxy?.authority]) authority?.onChange(() => enqueue([key]));
  const trust = () => frontProxy && { authority: frontProxy.authority.value, name: frontProxy.name };

  return {
    name: 'extension-apiserver-authentication',
    watches: [
      watched(configMapResource, () => [key], scope),
      watched(namespaceResource, () => [key], { fieldSelector: `metadata.name=${namespace}` }),
    ],
    async reconcile() {
      const plan = planAuthentication(clientAuthority.value, trust(), cached.get(key));
      switch (plan.type) {
        case 'none':
          return undefined;
        case 'create':
          await unlessNamespaceEnds(tolerate(configMaps.create(plan.configMap), isAlreadyExists));
          return undefined;
        case 'update':
          log.info('publishing the authorities for extension servers', { configmap: key });
          await tolerate(configMaps.update(plan.configMap), isNotFound, isConflict);
          return undefined;
        case 'remove': {
          const preconditions = { uid: plan.uid };
          await tolerate(configMaps.delete(name, namespace, { preconditions }), isNotFound, isConflict);
          return undefined;
        }
      }
    },
  };
}
