/**
 * Recreates objects that every cluster has from the beginning: the system namespaces (of which only
 * kube-node-lease can be deleted) and the Services of the API and of cluster DNS. The Service of the API is
 * also restored after changes; the Service of cluster DNS may be changed by the administrator. Runs on every
 * master, not only on the leader: all masters have the same desired state, so they never undo each other's
 * writes.
 */
import { namespaceResource } from '../../api/core/v1/namespace.ts';
import { type Service, serviceResource } from '../../api/core/v1/service/service.ts';
import { apiService, dnsService, type SystemObjects } from '../../api/core/v1/system-objects.ts';
import { type Draft, type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../apimachinery/status-error.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  watched,
} from '../../controller-runtime/definition.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';
import { planService } from './system-objects-plan.ts';

const byName = ({ namespace, name }: { readonly namespace: string; readonly name: string }) => ({
  namespace,
  fieldSelector: `metadata.name=${name}`,
});
const [apiScope, dnsScope] = [byName(apiService), byName(dnsService)];

export function systemObjectsController(objects: SystemObjects): ControllerFactory {
  return (context) => controller(context, objects);
}

function controller(
  { client, informers, log }: ControllerContext,
  objects: SystemObjects,
): ControllerDefinition {
  const namespaces = informers.informerFor(namespaceResource).lister;
  const services = client.resource(serviceResource);
  const names = new Set(objects.namespaces.map(({ metadata }) => metadata.name));

  async function keepNamespaces(): Promise<void> {
    for (const draft of objects.namespaces) {
      const name = draft.metadata.name as string;
      if (namespaces.get(name)) continue;
      log.info('creating a missing system namespace', { namespace: name });
      await tolerate(client.resource(namespaceResource).create(draft), isAlreadyExists);
    }
  }

  async function keepApi(): Promise<void> {
    const { namespace, name } = apiService;
    const existing = informers.informerFor(serviceResource, apiScope).lister.get(`${namespace}/${name}`);
    const plan = planService(objects.api, existing);
    switch (plan.type) {
      case 'none':
        return;
      case 'create':
        return make(objects.api);
      case 'remove': {
        log.warn('the Service of the API server has a wrong address; creating it again', { service: name });
        const preconditions = { uid: plan.uid };
        await tolerate(services.delete(name, namespace, { preconditions }), isNotFound, isConflict);
        return;
      }
      case 'update':
        if (plan.isRestored)
          log.warn('the Service of the API server was changed; restoring it', { service: name });
        // Another master was faster; its write arrives as an event.
        await tolerate(services.update(plan.service), isNotFound, isConflict);
    }
  }

  async function keepDns(): Promise<void> {
    const { namespace, name } = dnsService;
    const existing = informers.informerFor(serviceResource, dnsScope).lister.get(`${namespace}/${name}`);
    if (!existing) await make(objects.dns);
  }

  async function make(service: Draft<Service>): Promise<void> {
    const { namespace, name } = service.metadata;
    log.info('creating a missing system Service', { service: `${namespace}/${name}` });
    await tolerate(services.create(service), isAlreadyExists);
  }

  const keepers: Readonly<Record<string, () => Promise<void>>> = {
    namespaces: keepNamespaces,
    [`${apiService.namespace}/${apiService.name}`]: keepApi,
    [`${dnsService.namespace}/${dnsService.name}`]: keepDns,
  };

  const own = (service: Service): readonly ObjectKey[] => [objectKey(service)];
  return {
    name: 'system-objects',
    workers: 1,
    watches: [
      watched(namespaceResource, ({ metadata }) => (names.has(metadata.name) ? ['namespaces'] : [])),
      watched(serviceResource, own, apiScope),
      watched(serviceResource, own, dnsScope),
    ],
    async reconcile(key) {
      await keepers[key]?.();
      return undefined;
    },
  };
}
