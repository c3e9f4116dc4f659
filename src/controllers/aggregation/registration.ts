/** Keeps an APIService for every group and version that this server serves (upstream: autoregister). */
import { apiServiceResource } from '../../api/apiregistration/v1/api-service.ts';
import { localServices } from '../../api/apiregistration/v1/local-services.ts';
import { namespaceResource } from '../../api/core/v1/namespace.ts';
import type { AccountRights } from '../../api/rbac/v1/rule-rows.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../apimachinery/status-error.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';
import { planRegistration } from './registration-plan.ts';

export const registrationRights: AccountRights = {
  own: [['get list watch create update delete', apiServiceResource.group, apiServiceResource.plural]],
};

const firstNamespace = { fieldSelector: 'metadata.name=kube-system' };

/** Keys of this controller are names of APIServices. */
export function registrationController({
  client,
  informers,
  kinds,
  enqueue,
  log,
}: ControllerContext): ControllerDefinition {
  const cached = informers.informerFor(apiServiceResource).lister;
  const services = client.resource(apiServiceResource);
  let wanted = localServices(kinds);
  let of = kinds.all;
  const current = () => {
    if (of !== kinds.all) {
      of = kinds.all;
      wanted = localServices(kinds);
    }
    return wanted;
  };
  kinds.onChange(() => {
    const former = [...wanted.keys()];
    enqueue(new Set([...former, ...current().keys()]));
  });

  return {
    name: 'apiservice-registration',
    startsLater: true,
    watches: [
      watched(apiServiceResource, ({ metadata }) => [metadata.name]),
      // Every cluster has this namespace, whose event begins the first pass.
      watched(namespaceResource, () => [...current().keys()], firstNamespace),
    ],
    async reconcile(key) {
      const plan = planRegistration(current().get(key), cached.get(key));
      switch (plan.type) {
        case 'none':
          return undefined;
        case 'create':
          await tolerate(services.create(plan.draft), isAlreadyExists);
          return undefined;
        case 'update':
          log.warn('an APIService of this server was changed; restoring it', { apiservice: key });
          await tolerate(services.update(plan.service), isNotFound, isConflict);
          return undefined;
        case 'remove': {
          const preconditions = { uid: plan.uid };
          await tolerate(services.delete(key, undefined, { preconditions }), isNotFound, isConflict);
          return undefined;
        }
      }
    },
  };
}
