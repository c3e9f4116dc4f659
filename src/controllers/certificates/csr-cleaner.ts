/** Deletes old certificate signing requests. */
import { certificateSigningRequestResource as requestResource } from '../../api/certificates/v1/certificate-signing-request.ts';
import type { AccountRights } from '../../api/rbac/v1/rule-rows.ts';
import { isTerminating, type ObjectKey } from '../../apimachinery/meta.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { deletableAt } from './csr-cleaner-plan.ts';

export const csrCleanerRights: AccountRights = {
  kubernetes: [['get list watch delete', 'certificates.k8s.io', 'certificatesigningrequests']],
};

export function csrCleaner({ client, clock, informers }: ControllerContext): ControllerDefinition {
  const requests = informers.informerFor(requestResource).lister;

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const request = requests.get(key);
    if (!request || isTerminating(request)) return undefined;
    const left = deletableAt(request) - clock.now();
    if (left > 0) return { requeueAfter: left };
    const { name, uid, resourceVersion } = request.metadata;
    const preconditions = { uid, resourceVersion };
    await ifPresent(client.resource(requestResource).delete(name, '', { preconditions }));
    return undefined;
  }

  return {
    name: 'csr-cleaner',
    workers: 1,
    watches: [watched(requestResource, ({ metadata }) => [metadata.name])],
    reconcile,
  };
}
