/** Deletes old requests for the certificates of pods (upstream: pkg/controller/certificates/cleaner). */
import { podCertificateRequestResource as requestResource } from '../../api/certificates/v1/pod-certificate-request.ts';
import type { AccountRights } from '../../api/rbac/v1/rule-rows.ts';
import { isTerminating, objectKey } from '../../apimachinery/meta.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';

export const podCertificateCleanerRights: AccountRights = {
  kubernetes: [['get list watch delete', 'certificates.k8s.io', 'podcertificaterequests']],
};

/** Maximum age. Nodes read the certificate as soon as it is issued, and request another after this time. */
const maxAgeMs = 15 * 60 * 1000;

export function podCertificateCleaner({ client, clock, informers }: ControllerContext): ControllerDefinition {
  const requests = informers.informerFor(requestResource).lister;

  return {
    name: 'podcertificaterequest-cleaner',
    watches: [watched(requestResource, (request) => [objectKey(request)])],
    async reconcile(key) {
      const request = requests.get(key);
      if (!request || isTerminating(request)) return undefined;
      const { name, namespace = '', uid, creationTimestamp } = request.metadata;
      const left = Date.parse(creationTimestamp) + maxAgeMs - clock.now();
      if (left > 0) return { requeueAfter: left };
      await ifPresent(client.resource(requestResource).delete(name, namespace, { preconditions: { uid } }));
      return undefined;
    },
  };
}
