/**
 * Publishes the certificate authority of the cluster in every namespace (upstream:
 * pkg/controller/certificates/rootcacertpublisher).
 */
import { configMapResource } from '../../api/core/v1/config-map.ts';
import { namespaceResource } from '../../api/core/v1/namespace.ts';
import { type AccountRights, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { isTerminating } from '../../apimachinery/meta.ts';
import { isAlreadyExists, isConflict } from '../../apimachinery/status-error.ts';
import type { Current } from '../../base/current.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent, unlessNamespaceEnds } from '../../controller-runtime/if-present.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';
import { planRootCa, rootCaName } from './root-ca-publisher-plan.ts';

export const rootCaPublisherRights: AccountRights = {
  kubernetes: [['create update', 'core', 'configmaps'], writeEvents],
  // An immutable ConfigMap of that name can only be replaced.
  own: [['delete', 'core', 'configmaps']],
};

/** Creates the controller. `authority` is in PEM. */
export const rootCaPublisher =
  (authority: Current<string>): ControllerFactory =>
  (context) =>
    publisher(context, authority);

/** Keys of this controller are names of namespaces. */
function publisher(
  { client, informers, log, enqueue }: ControllerContext,
  authority: Current<string>,
): ControllerDefinition {
  const namespaces = informers.informerFor(namespaceResource).lister;
  const cached = informers.informerFor(configMapResource).lister;
  const configMaps = client.resource(configMapResource);
  authority.onChange(() => enqueue(namespaces.list().map(({ metadata }) => metadata.name)));

  return {
    name: 'root-ca-publisher',
    watches: [
      watched(namespaceResource, ({ metadata }) => [metadata.name]),
      watched(configMapResource, ({ metadata: { name, namespace } }) =>
        name === rootCaName && namespace ? [namespace] : [],
      ),
    ],
    async reconcile(key) {
      const namespace = namespaces.get(key);
      if (!namespace || isTerminating(namespace)) return undefined;
      const existing = cached.get(`${key}/${rootCaName}`);
      const plan = planRootCa(key, authority.value, existing);
      switch (plan.type) {
        case 'none':
          return undefined;
        case 'create':
          await unlessNamespaceEnds(tolerate(configMaps.create(plan.configMap), isAlreadyExists));
          return undefined;
        case 'update':
          log.info('restoring the published certificate authority', { namespace: key });
          await ifPresent(configMaps.update(plan.configMap));
          return undefined;
        case 'remove': {
          log.info('making the published certificate authority again', { namespace: key });
          const preconditions = { uid: existing?.metadata.uid ?? '' };
          await ifPresent(tolerate(configMaps.delete(rootCaName, key, { preconditions }), isConflict));
          return undefined;
        }
      }
    },
  };
}
