/**
 * Publishes the authority of the API server's certificates as a ClusterTrustBundle, so that pods can mount it
 * (upstream: pkg/controller/certificates/clustertrustbundlepublisher).
 */
import { createHash } from 'node:crypto';
import { clusterTrustBundleResource } from '../../api/certificates/v1/cluster-trust-bundle.ts';
import { namespaceResource } from '../../api/core/v1/namespace.ts';
import { type AccountRights, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../apimachinery/status-error.ts';
import type { Current } from '../../base/current.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  watched,
} from '../../controller-runtime/definition.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';
import { planServingTrust, servingSigner } from './serving-trust-bundle-plan.ts';

export const servingTrustBundleRights: AccountRights = {
  kubernetes: [
    ['attest', 'certificates.k8s.io', 'signers', servingSigner],
    ['create update delete list watch', 'certificates.k8s.io', 'clustertrustbundles'],
    writeEvents,
  ],
};

/** Creates the controller. `authority` is in PEM. */
export const servingTrustBundlePublisher =
  (authority: Current<string>): ControllerFactory =>
  (context) =>
    publisher(context, authority);

const key = servingSigner;
const hashLength = 24;

function publisher(
  { client, informers, enqueue, log }: ControllerContext,
  authority: Current<string>,
): ControllerDefinition {
  const scope = { fieldSelector: `spec.signerName=${servingSigner}` };
  const cached = informers.informerFor(clusterTrustBundleResource, scope).lister;
  const bundles = client.resource(clusterTrustBundleResource);
  authority.onChange(() => enqueue([key]));

  return {
    name: 'kube-apiserver-serving-clustertrustbundle-publisher',
    startsLater: true,
    watches: [
      watched(clusterTrustBundleResource, () => [key], scope),
      // A new cluster has no bundle whose event would enqueue the key.
      watched(namespaceResource, () => [key], { fieldSelector: 'metadata.name=kube-system' }),
    ],
    async reconcile() {
      const hash = createHash('sha256').update(authority.value).digest('hex').slice(0, hashLength);
      const { create, update, remove } = planServingTrust(authority.value, hash, cached.list());
      if (create) {
        log.info("publishing the authority of the API server's certificates");
        await tolerate(bundles.create(create), isAlreadyExists);
      }
      if (update) await tolerate(bundles.update(update), isNotFound, isConflict);
      for (const { metadata } of remove) {
        const preconditions = { uid: metadata.uid };
        await tolerate(bundles.delete(metadata.name, undefined, { preconditions }), isNotFound, isConflict);
      }
      return undefined;
    },
  };
}
