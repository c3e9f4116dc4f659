/**
 * The rules of Kubernetes' kinds by name. Of the rules for a kind, the first that finds something names the
 * cause. The rules of features' kinds are in the features' folders.
 */
import type { Rules } from '../rule.ts';
import { autoscalerMetrics } from './autoscaler-metrics.ts';
import { autoscalerTarget } from './autoscaler-target.ts';
import { budgetBlocks } from './budget-blocks.ts';
import { claimClass } from './claim-class.ts';
import { claimLost } from './claim-lost.ts';
import { claimNoDefault } from './claim-no-default.ts';
import { claimProvisioning } from './claim-provisioning.ts';
import { claimUnused } from './claim-unused.ts';
import { claimVolumes } from './claim-volumes.ts';
import { cronBlocked } from './cron-blocked.ts';
import { cronLastJob } from './cron-last-job.ts';
import { cronSchedule } from './cron-schedule.ts';
import { deploymentPaused } from './deployment-paused.ts';
import { finalizer } from './finalizer.ts';
import { ingressClass } from './ingress-class.ts';
import { ingressEndpoints } from './ingress-endpoints.ts';
import { ingressServed } from './ingress-served.ts';
import { ingressService } from './ingress-service.ts';
import { ingressTls } from './ingress-tls.ts';
import { jobFailed } from './job-failed.ts';
import { jobRetries } from './job-retries.ts';
import { jobSuspended } from './job-suspended.ts';
import { namespaceTerminating } from './namespace-terminating.ts';
import { nodeCordoned } from './node-cordoned.ts';
import { nodeNotReady } from './node-not-ready.ts';
import { nodePressure } from './node-pressure.ts';
import { podArchitecture } from './pod-architecture.ts';
import { podClaims } from './pod-claims.ts';
import { podCordonedNodes } from './pod-cordoned-nodes.ts';
import { podCrash } from './pod-crash.ts';
import { podEvicted } from './pod-evicted.ts';
import { podExits } from './pod-exits.ts';
import { podGated } from './pod-gated.ts';
import { podHook } from './pod-hook.ts';
import { podHostPort } from './pod-host-port.ts';
import { podImage } from './pod-image.ts';
import { podLiveness } from './pod-liveness.ts';
import { podMount } from './pod-mount.ts';
import { podNoNode } from './pod-no-node.ts';
import { podNoScheduler } from './pod-no-scheduler.ts';
import { podNodeMissing } from './pod-node-missing.ts';
import { podNodeSelector } from './pod-node-selector.ts';
import { podOnLostNode } from './pod-on-lost-node.ts';
import { podOutOfMemory } from './pod-out-of-memory.ts';
import { podReadiness } from './pod-readiness.ts';
import { podReferences } from './pod-references.ts';
import { podResources } from './pod-resources.ts';
import { podStartError } from './pod-start-error.ts';
import { podStarting } from './pod-starting.ts';
import { podTaints } from './pod-taints.ts';
import { podTerminating } from './pod-terminating.ts';
import { podUnschedulable } from './pod-unschedulable.ts';
import { podVolumeNode } from './pod-volume-node.ts';
import { serviceAnnounced } from './service-announced.ts';
import { serviceBalancer } from './service-balancer.ts';
import { servicePool } from './service-pool.ts';
import { serviceSelector } from './service-selector.ts';
import { workloadPods } from './workload-pods.ts';
import { workloadRefused } from './workload-refused.ts';

export const rules: Rules = {
  finalizer,
  'node-not-ready': nodeNotReady,
  'node-pressure': nodePressure,
  'node-cordoned': nodeCordoned,
  'namespace-terminating': namespaceTerminating,
  'pod-terminating': podTerminating,
  'pod-gated': podGated,
  'pod-claims': podClaims,
  'pod-no-node': podNoNode,
  'pod-cordoned-nodes': podCordonedNodes,
  'pod-node-selector': podNodeSelector,
  'pod-taints': podTaints,
  'pod-host-port': podHostPort,
  'pod-resources': podResources,
  'pod-volume-node': podVolumeNode,
  'pod-unschedulable': podUnschedulable,
  'pod-no-scheduler': podNoScheduler,
  'pod-evicted': podEvicted,
  'pod-node-missing': podNodeMissing,
  'pod-on-lost-node': podOnLostNode,
  'pod-image': podImage,
  'pod-references': podReferences,
  'pod-out-of-memory': podOutOfMemory,
  'pod-architecture': podArchitecture,
  'pod-start-error': podStartError,
  'pod-hook': podHook,
  'pod-liveness': podLiveness,
  'pod-exits': podExits,
  'pod-crash': podCrash,
  'pod-mount': podMount,
  'pod-readiness': podReadiness,
  'pod-starting': podStarting,
  'deployment-paused': deploymentPaused,
  'job-suspended': jobSuspended,
  'workload-refused': workloadRefused,
  'workload-pods': workloadPods,
  'job-failed': jobFailed,
  'job-retries': jobRetries,
  'cron-schedule': cronSchedule,
  'cron-blocked': cronBlocked,
  'cron-last-job': cronLastJob,
  'service-selector': serviceSelector,
  'service-pool': servicePool,
  'service-announced': serviceAnnounced,
  'service-balancer': serviceBalancer,
  'ingress-class': ingressClass,
  'ingress-served': ingressServed,
  'ingress-service': ingressService,
  'ingress-endpoints': ingressEndpoints,
  'ingress-tls': ingressTls,
  'claim-lost': claimLost,
  'claim-volumes': claimVolumes,
  'claim-class': claimClass,
  'claim-no-default': claimNoDefault,
  'claim-unused': claimUnused,
  'claim-provisioning': claimProvisioning,
  'budget-blocks': budgetBlocks,
  'autoscaler-target': autoscalerTarget,
  'autoscaler-metrics': autoscalerMetrics,
};
