/**
 * List of all controllers of the control plane. A new controller is one file and one line here, with the
 * account that gets the rights which the file declares, and the name under which it records events in
 * Kubernetes if that name differs.
 */
import type { SignSecretToken } from '../api/core/v1/service-account/token.ts';
import type { Current } from '../base/current.ts';
import type { ControllerEntry } from '../controller-runtime/definition.ts';
import type { ReadCertificateRequest, SignCertificateRequest } from '../formats/certificate-request.ts';
import { policyStatus, policyStatusRights } from './admission/policy-status.ts';
import {
  type AskExtensionServer,
  availabilityController,
  availabilityRights,
} from './aggregation/availability.ts';
import { registrationController, registrationRights } from './aggregation/registration.ts';
import { type AutoscalingOptions, horizontalController, horizontalRights } from './autoscaling/horizontal.ts';
import { csrApproving, csrApprovingRights } from './certificates/csr-approving.ts';
import type { NodeApproval } from './certificates/csr-approving-plan.ts';
import { csrCleaner, csrCleanerRights } from './certificates/csr-cleaner.ts';
import { csrSigning, csrSigningRights } from './certificates/csr-signing.ts';
import {
  extensionAuthenticationController,
  extensionAuthenticationRights,
} from './certificates/extension-authentication.ts';
import {
  podCertificateCleaner,
  podCertificateCleanerRights,
} from './certificates/pod-certificate-cleaner.ts';
import { rootCaPublisher, rootCaPublisherRights } from './certificates/root-ca-publisher.ts';
import {
  servingTrustBundlePublisher,
  servingTrustBundleRights,
} from './certificates/serving-trust-bundle.ts';
import { tokenCleaner, tokenCleanerRights } from './certificates/token-cleaner.ts';
import { definitionCleanup, definitionCleanupRights } from './custom-resources/definition-cleanup.ts';
import { definitionNames, definitionNamesRights } from './custom-resources/definition-names.ts';
import { disruptionController, disruptionRights } from './disruption/disruption.ts';
import { staleDisruptionController, staleDisruptionRights } from './disruption/stale-disruption.ts';
import { eventTtl, eventTtlRights } from './garbage/event-ttl.ts';
import { garbageCollector, garbageCollectorRights } from './garbage/garbage-collector.ts';
import { podGcController, podGcRights } from './garbage/pod-gc.ts';
import { storageMigrationController, storageMigrationRights } from './migrations/storage-migration.ts';
import { namespaceController, namespaceRights } from './namespaces/namespace.ts';
import { serviceAccountController, serviceAccountRights } from './namespaces/service-account.ts';
import { tokenSecrets, tokenSecretsRights } from './namespaces/token-secrets.ts';
import { controlPlaneRole, controlPlaneRoleRights } from './nodes/control-plane-role.ts';
import { nodeIpam, nodeIpamRights } from './nodes/node-ipam.ts';
import { nodeLifecycle, nodeLifecycleRights } from './nodes/node-lifecycle.ts';
import { taintEvictionController, taintEvictionRights } from './nodes/taint-eviction.ts';
import { resourceQuotaController, resourceQuotaRights } from './quotas/resource-quota.ts';
import { clusterRoleAggregation, clusterRoleAggregationRights } from './rbac/clusterrole-aggregation.ts';
import { endpointsController, endpointsRights } from './services/endpoints.ts';
import { endpointSliceController, endpointSliceRights } from './services/endpointslice.ts';
import {
  endpointSliceMirroringController,
  endpointSliceMirroringRights,
} from './services/endpointslicemirroring.ts';
import { externalAddressesController, externalAddressesRights } from './services/external-addresses.ts';
import { ipAddressesController, ipAddressesRights } from './services/ip-addresses.ts';
import { loadBalancerController, loadBalancerRights } from './services/load-balancer.ts';
import { serviceRangesController, serviceRangesRights } from './services/service-ranges.ts';
import {
  attributesClassProtectionController,
  attributesClassProtectionRights,
} from './volumes/attributes-class-protection.ts';
import { ephemeralVolumeController, ephemeralVolumeRights } from './volumes/ephemeral-volume.ts';
import { expandController, expandRights } from './volumes/expand.ts';
import { persistentVolumeBinder, persistentVolumeBinderRights } from './volumes/persistent-volume-binder.ts';
import { pvProtectionController, pvProtectionRights } from './volumes/pv-protection.ts';
import { pvcProtectionController, pvcProtectionRights } from './volumes/pvc-protection.ts';
import { volumeProvisioner, volumeProvisionerRights } from './volumes/volume-provisioner.ts';
import { volumeRecycler, volumeRecyclerRights } from './volumes/volume-recycler.ts';
import { cronJobController, cronJobRights } from './workloads/cronjobs/cron-job.ts';
import { daemonSetController, daemonSetRights } from './workloads/daemons/daemon-set.ts';
import { deploymentController, deploymentRights } from './workloads/deployments/deployment.ts';
import { jobController, jobRights } from './workloads/jobs/job.ts';
import { jobOrphans, jobOrphansRights } from './workloads/jobs/job-orphans.ts';
import { ttlAfterFinished, ttlAfterFinishedRights } from './workloads/jobs/ttl-after-finished.ts';
import { replicaSetController, replicaSetRights } from './workloads/replicas/replica-set.ts';
import { replicationController, replicationRights } from './workloads/replicas/replication-controller.ts';
import { statefulSetController, statefulSetRights } from './workloads/stateful/stateful-set.ts';

export interface ControllersOptions {
  /** IP ranges of all pods, such as 10.244.0.0/16; one, or one of each family (`familyRanges`). */
  readonly clusterCidr: string;
  /** IP ranges of all Services, such as 10.96.0.0/16; one, or one of each family. */
  readonly serviceCidr: string;
  /** First and last port of the range of node ports; default 30000 to 32767. */
  readonly nodePorts?: readonly [number, number];
  /** Domain of the cluster, such as `cluster.local`. */
  readonly clusterDomain: string;
  /** Node of this process. It needs no approval and is shown as the control plane. */
  readonly ownNode?: string;
  /** Milliseconds without a heartbeat after which a node is lost; default 40 s. */
  readonly nodeGracePeriodMs?: number;
  /** Milliseconds that an Event is kept after its last occurrence; default one hour. */
  readonly eventTtlMs?: number;
  /** Decides whether machines with a bootstrap token join at once. */
  readonly nodeApproval: NodeApproval;
  readonly certificates: {
    readonly read: ReadCertificateRequest;
    readonly sign: SignCertificateRequest;
    /** Certificates of the cluster's certificate authorities, in PEM. */
    readonly authority: Current<string>;
  };
  /** Authority and name of the certificate with which this server calls extension servers. */
  readonly frontProxyTrust?: { readonly authority: Current<string>; readonly name: string };
  readonly signSecretToken: SignSecretToken;
  readonly askExtensionServer: AskExtensionServer;
  readonly autoscaling?: AutoscalingOptions;
}

export const controllers: readonly ControllerEntry<ControllersOptions>[] = [
  {
    account: 'customresourcedefinition-controller',
    rights: definitionNamesRights,
    controller: () => definitionNames,
  },
  {
    account: 'customresourcedefinition-controller',
    rights: definitionCleanupRights,
    controller: () => definitionCleanup,
  },
  { account: 'deployment-controller', rights: deploymentRights, controller: () => deploymentController },
  { account: 'replicaset-controller', rights: replicaSetRights, controller: () => replicaSetController },
  { account: 'replication-controller', rights: replicationRights, controller: () => replicationController },
  { account: 'job-controller', rights: jobRights, controller: () => jobController },
  { account: 'job-controller', rights: jobOrphansRights, controller: () => jobOrphans },
  { account: 'cronjob-controller', rights: cronJobRights, controller: () => cronJobController },
  {
    account: 'ttl-after-finished-controller',
    rights: ttlAfterFinishedRights,
    controller: () => ttlAfterFinished,
  },
  {
    account: 'daemon-set-controller',
    eventSource: 'daemonset-controller',
    rights: daemonSetRights,
    controller: () => daemonSetController,
  },
  { account: 'statefulset-controller', rights: statefulSetRights, controller: () => statefulSetController },
  {
    account: 'endpointslice-controller',
    eventSource: 'endpoint-slice-controller',
    rights: endpointSliceRights,
    controller: () => endpointSliceController,
  },
  { account: 'endpoint-controller', rights: endpointsRights, controller: () => endpointsController },
  {
    account: 'endpointslicemirroring-controller',
    eventSource: 'endpoint-slice-mirroring-controller',
    rights: endpointSliceMirroringRights,
    controller: () => endpointSliceMirroringController,
  },
  {
    account: 'service-controller',
    rights: externalAddressesRights,
    controller: (options) =>
      externalAddressesController({
        serviceCIDR: options.serviceCidr,
        clusterCIDR: options.clusterCidr,
      }),
  },
  {
    account: 'service-controller',
    rights: loadBalancerRights,
    controller: (options) =>
      loadBalancerController({
        nodePorts: options.nodePorts ?? [30000, 32767],
        serviceCIDR: options.serviceCidr,
        clusterCIDR: options.clusterCidr,
      }),
  },
  {
    account: 'service-cidrs-controller',
    rights: serviceRangesRights,
    controller: (options) => serviceRangesController(options.serviceCidr),
  },
  { account: 'service-cidrs-controller', rights: ipAddressesRights, controller: () => ipAddressesController },
  {
    account: 'horizontal-pod-autoscaler',
    rights: horizontalRights,
    controller: (options) => horizontalController(options.autoscaling ?? {}),
  },
  {
    account: 'disruption-controller',
    eventSource: 'controllermanager',
    rights: disruptionRights,
    controller: () => disruptionController,
  },
  {
    account: 'disruption-controller',
    eventSource: 'controllermanager',
    rights: staleDisruptionRights,
    controller: () => staleDisruptionController,
  },
  { account: 'namespace-controller', rights: namespaceRights, controller: () => namespaceController },
  {
    account: 'generic-garbage-collector',
    eventSource: 'garbage-collector-controller',
    rights: garbageCollectorRights,
    controller: () => garbageCollector,
  },
  {
    account: 'node-controller',
    eventSource: 'cidrAllocator',
    rights: nodeIpamRights,
    controller: (options) => nodeIpam(options),
  },
  {
    account: 'node-controller',
    rights: controlPlaneRoleRights,
    controller: ({ ownNode }) => (ownNode === undefined ? undefined : controlPlaneRole(ownNode)),
  },
  {
    account: 'node-controller',
    rights: nodeLifecycleRights,
    controller: (options) => nodeLifecycle({ gracePeriodMs: options.nodeGracePeriodMs }),
  },
  {
    account: 'node-controller',
    eventSource: 'taint-eviction-controller',
    rights: taintEvictionRights,
    controller: () => taintEvictionController,
  },
  { account: 'pod-garbage-collector', rights: podGcRights, controller: () => podGcController },
  {
    account: 'event-ttl-controller',
    rights: eventTtlRights,
    controller: (options) => eventTtl(options.eventTtlMs),
  },
  {
    account: 'certificate-controller',
    rights: csrApprovingRights,
    controller: (options) =>
      csrApproving({ ...options, approval: options.nodeApproval, read: options.certificates.read }),
  },
  {
    account: 'certificate-controller',
    rights: csrSigningRights,
    controller: (options) => csrSigning(options.certificates),
  },
  { account: 'certificate-controller', rights: csrCleanerRights, controller: () => csrCleaner },
  {
    account: 'podcertificaterequestcleaner',
    rights: podCertificateCleanerRights,
    controller: () => podCertificateCleaner,
  },
  { account: 'token-cleaner', rights: tokenCleanerRights, controller: () => tokenCleaner },
  {
    account: 'clusterrole-aggregation-controller',
    rights: clusterRoleAggregationRights,
    controller: () => clusterRoleAggregation,
  },
  {
    account: 'service-account-controller',
    rights: serviceAccountRights,
    controller: () => serviceAccountController,
  },
  {
    account: 'root-ca-cert-publisher',
    rights: rootCaPublisherRights,
    controller: (options) => rootCaPublisher(options.certificates.authority),
  },
  {
    account: 'kube-apiserver-serving-clustertrustbundle-publisher',
    rights: servingTrustBundleRights,
    controller: (options) => servingTrustBundlePublisher(options.certificates.authority),
  },
  {
    account: 'persistent-volume-binder',
    eventSource: 'persistentvolume-controller',
    rights: persistentVolumeBinderRights,
    controller: () => persistentVolumeBinder,
  },
  {
    account: 'persistent-volume-binder',
    eventSource: 'persistentvolume-controller',
    rights: volumeRecyclerRights,
    controller: () => volumeRecycler,
  },
  { account: 'volume-provisioner', rights: volumeProvisionerRights, controller: () => volumeProvisioner },
  {
    account: 'expand-controller',
    eventSource: 'volume_expand',
    rights: expandRights,
    controller: () => expandController,
  },
  {
    account: 'pvc-protection-controller',
    rights: pvcProtectionRights,
    controller: () => pvcProtectionController,
  },
  {
    account: 'pv-protection-controller',
    rights: pvProtectionRights,
    controller: () => pvProtectionController,
  },
  {
    account: 'storage-version-migrator-controller',
    rights: storageMigrationRights,
    controller: () => storageMigrationController,
  },
  {
    account: 'volumeattributesclass-protection-controller',
    rights: attributesClassProtectionRights,
    controller: () => attributesClassProtectionController,
  },
  {
    account: 'ephemeral-volume-controller',
    eventSource: 'ephemeral_volume',
    rights: ephemeralVolumeRights,
    controller: () => ephemeralVolumeController,
  },
  {
    account: 'resourcequota-controller',
    rights: resourceQuotaRights,
    controller: () => resourceQuotaController,
  },
  {
    account: 'apiservice-controller',
    rights: registrationRights,
    controller: () => registrationController,
  },
  {
    account: 'apiservice-controller',
    rights: availabilityRights,
    controller: ({ askExtensionServer }) => availabilityController(askExtensionServer),
  },
  {
    account: 'root-ca-cert-publisher',
    rights: extensionAuthenticationRights,
    controller: ({ certificates, frontProxyTrust: frontProxy }) =>
      extensionAuthenticationController({ clientAuthority: certificates.authority, frontProxy }),
  },
  {
    account: 'tokens-controller',
    rights: tokenSecretsRights,
    controller: (options) =>
      tokenSecrets({ authority: options.certificates.authority, sign: options.signSecretToken }),
  },
  {
    account: 'validatingadmissionpolicy-status-controller',
    rights: policyStatusRights,
    controller: () => policyStatus,
  },
];
