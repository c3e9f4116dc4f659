/**
 * List of all controllers of the control plane. A new controller is one file and one line here, with the
 * account whose roles authorize it, and the name under which it records events in Kubernetes if that name
 * differs.
 */
import type { SignSecretToken } from '../api/core/v1/service-account/token.ts';
import type { AccountedController } from '../controller-runtime/definition.ts';
import type { ReadCertificateRequest, SignCertificateRequest } from '../formats/certificate-request.ts';
import { type AutoscalingOptions, horizontalController } from './autoscaling/horizontal.ts';
import { csrApproving } from './certificates/csr-approving.ts';
import type { NodeApproval } from './certificates/csr-approving-plan.ts';
import { csrCleaner } from './certificates/csr-cleaner.ts';
import { csrSigning } from './certificates/csr-signing.ts';
import { rootCaPublisher } from './certificates/root-ca-publisher.ts';
import { tokenCleaner } from './certificates/token-cleaner.ts';
import { disruptionController } from './disruption/disruption.ts';
import { staleDisruptionController } from './disruption/stale-disruption.ts';
import { eventTtl } from './garbage/event-ttl.ts';
import { garbageCollector } from './garbage/garbage-collector.ts';
import { podGcController } from './garbage/pod-gc.ts';
import { namespaceController } from './namespaces/namespace.ts';
import { serviceAccountController } from './namespaces/service-account.ts';
import { tokenSecrets } from './namespaces/token-secrets.ts';
import { controlPlaneRole } from './nodes/control-plane-role.ts';
import { nodeIpam } from './nodes/node-ipam.ts';
import { nodeLifecycle } from './nodes/node-lifecycle.ts';
import { taintEvictionController } from './nodes/taint-eviction.ts';
import { resourceQuotaController } from './quotas/resource-quota.ts';
import { clusterRoleAggregation } from './rbac/clusterrole-aggregation.ts';
import { endpointsController } from './services/endpoints.ts';
import { endpointSliceController } from './services/endpointslice.ts';
import { endpointSliceMirroringController } from './services/endpointslicemirroring.ts';
import { externalAddressesController } from './services/external-addresses.ts';
import { ephemeralVolumeController } from './volumes/ephemeral-volume.ts';
import { expandController } from './volumes/expand.ts';
import { persistentVolumeBinder } from './volumes/persistent-volume-binder.ts';
import { pvProtectionController } from './volumes/pv-protection.ts';
import { pvcProtectionController } from './volumes/pvc-protection.ts';
import { volumeProvisioner } from './volumes/volume-provisioner.ts';
import { volumeRecycler } from './volumes/volume-recycler.ts';
import { cronJobController } from './workloads/cronjobs/cron-job.ts';
import { daemonSetController } from './workloads/daemons/daemon-set.ts';
import { deploymentController } from './workloads/deployments/deployment.ts';
import { jobController } from './workloads/jobs/job.ts';
import { jobOrphans } from './workloads/jobs/job-orphans.ts';
import { ttlAfterFinished } from './workloads/jobs/ttl-after-finished.ts';
import { replicaSetController } from './workloads/replicas/replica-set.ts';
import { replicationController } from './workloads/replicas/replication-controller.ts';
import { statefulSetController } from './workloads/stateful/stateful-set.ts';

export interface ControllersOptions {
  /** IP range of all pods, such as 10.244.0.0/16. */
  readonly clusterCidr: string;
  /** IP range of all Services, such as 10.96.0.0/16. */
  readonly serviceCidr: string;
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
    /** Certificate of the cluster's certificate authority, in PEM. */
    readonly authority: string;
  };
  readonly signSecretToken: SignSecretToken;
  readonly autoscaling?: AutoscalingOptions;
}

export const controllers = (options: ControllersOptions): readonly AccountedController[] => [
  { account: 'deployment-controller', controller: deploymentController },
  { account: 'replicaset-controller', controller: replicaSetController },
  { account: 'replication-controller', controller: replicationController },
  { account: 'job-controller', controller: jobController },
  { account: 'job-controller', controller: jobOrphans },
  { account: 'cronjob-controller', controller: cronJobController },
  { account: 'ttl-after-finished-controller', controller: ttlAfterFinished },
  { account: 'daemon-set-controller', eventSource: 'daemonset-controller', controller: daemonSetController },
  { account: 'statefulset-controller', controller: statefulSetController },
  {
    account: 'endpointslice-controller',
    eventSource: 'endpoint-slice-controller',
    controller: endpointSliceController,
  },
  { account: 'endpoint-controller', controller: endpointsController },
  {
    account: 'endpointslicemirroring-controller',
    eventSource: 'endpoint-slice-mirroring-controller',
    controller: endpointSliceMirroringController,
  },
  {
    account: 'service-controller',
    controller: externalAddressesController({
      serviceCIDR: options.serviceCidr,
      clusterCIDR: options.clusterCidr,
    }),
  },
  {
    account: 'horizontal-pod-autoscaler',
    controller: horizontalController(options.autoscaling ?? {}),
  },
  { account: 'disruption-controller', eventSource: 'controllermanager', controller: disruptionController },
  {
    account: 'disruption-controller',
    eventSource: 'controllermanager',
    controller: staleDisruptionController,
  },
  { account: 'namespace-controller', controller: namespaceController },
  {
    account: 'generic-garbage-collector',
    eventSource: 'garbage-collector-controller',
    controller: garbageCollector,
  },
  { account: 'node-controller', eventSource: 'cidrAllocator', controller: nodeIpam(options) },
  ...(options.ownNode === undefined
    ? []
    : [{ account: 'node-controller', controller: controlPlaneRole(options.ownNode) }]),
  { account: 'node-controller', controller: nodeLifecycle({ gracePeriodMs: options.nodeGracePeriodMs }) },
  {
    account: 'node-controller',
    eventSource: 'taint-eviction-controller',
    controller: taintEvictionController,
  },
  { account: 'pod-garbage-collector', controller: podGcController },
  { account: 'event-ttl-controller', controller: eventTtl(options.eventTtlMs) },
  {
    account: 'certificate-controller',
    controller: csrApproving({ ...options, approval: options.nodeApproval, read: options.certificates.read }),
  },
  { account: 'certificate-controller', controller: csrSigning(options.certificates) },
  { account: 'certificate-controller', controller: csrCleaner },
  { account: 'token-cleaner', controller: tokenCleaner },
  { account: 'clusterrole-aggregation-controller', controller: clusterRoleAggregation },
  { account: 'service-account-controller', controller: serviceAccountController },
  { account: 'root-ca-cert-publisher', controller: rootCaPublisher(options.certificates.authority) },
  {
    account: 'persistent-volume-binder',
    eventSource: 'persistentvolume-controller',
    controller: persistentVolumeBinder,
  },
  {
    account: 'persistent-volume-binder',
    eventSource: 'persistentvolume-controller',
    controller: volumeRecycler,
  },
  { account: 'volume-provisioner', controller: volumeProvisioner },
  { account: 'expand-controller', eventSource: 'volume_expand', controller: expandController },
  { account: 'pvc-protection-controller', controller: pvcProtectionController },
  { account: 'pv-protection-controller', controller: pvProtectionController },
  {
    account: 'ephemeral-volume-controller',
    eventSource: 'ephemeral_volume',
    controller: ephemeralVolumeController,
  },
  { account: 'resourcequota-controller', controller: resourceQuotaController },
  {
    account: 'tokens-controller',
    controller: tokenSecrets({ authority: options.certificates.authority, sign: options.signSecretToken }),
  },
];
