/**
 * Creates the ServiceAccount `default`, used by pods that name no account, in every namespace (upstream:
 * pkg/controller/serviceaccount).
 */
import { namespaceResource } from '../../api/core/v1/namespace.ts';
import { defaultAccount, serviceAccountResource } from '../../api/core/v1/service-account/service-account.ts';
import { type AccountRights, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { isTerminating } from '../../apimachinery/meta.ts';
import { isAlreadyExists } from '../../apimachinery/status-error.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { unlessNamespaceEnds } from '../../controller-runtime/if-present.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';

export const serviceAccountRights: AccountRights = {
  kubernetes: [['create', 'core', 'serviceaccounts'], writeEvents],
};

/** Keys of this controller are names of namespaces. */
export function serviceAccountController({ client, informers }: ControllerContext): ControllerDefinition {
  const namespaces = informers.informerFor(namespaceResource).lister;
  const accounts = informers.informerFor(serviceAccountResource).lister;

  return {
    name: 'service-account',
    watches: [
      watched(namespaceResource, ({ metadata }) => [metadata.name]),
      watched(serviceAccountResource, ({ metadata: { name, namespace } }) =>
        name === defaultAccount && namespace ? [namespace] : [],
      ),
    ],
    async reconcile(key) {
      const namespace = namespaces.get(key);
      if (!namespace || isTerminating(namespace) || accounts.get(`${key}/${defaultAccount}`))
        return undefined;
      const draft = {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: defaultAccount, namespace: key },
      };
      const created = client.resource(serviceAccountResource).create(draft);
      await unlessNamespaceEnds(tolerate(created, isAlreadyExists));
      return undefined;
    },
  };
}
