/** The admission plugins of Kubernetes' own kinds and of features, in order. */

import type { AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import type { KubeContext } from '../context.ts';
import { terminatingDefinitions } from '../custom-resources/terminating-definitions.ts';
import { mutatingPolicies } from '../policies/mutating-policies.ts';
import { parameterAccess } from '../policies/parameter-access.ts';
import { validatingPolicies } from '../policies/validating-policies.ts';
import { escalation } from '../rbac/escalation.ts';
import { nodeAccessOf, type ServerFeature } from '../server-feature.ts';
import { webhookPlugins } from '../webhooks/plugins.ts';
import { certificateSigningRequests } from './certificate-signing-request.ts';
import { clusterTrustBundles } from './cluster-trust-bundle.ts';
import { defaultTolerationSeconds } from './default-toleration-seconds.ts';
import { limitRanger } from './limit-ranger.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { nodeRestriction } from './node-restriction.ts';
import { nodeUpgrades } from './node-upgrades.ts';
import { podCertificateRequests } from './pod-certificate-request.ts';
import { podSecurity } from './pod-security.ts';
import { priority } from './priority.ts';
import { resourceQuotas } from './resource-quota.ts';
import { runtimeClasses } from './runtime-class.ts';
import { selectorTermLimit } from './selector-terms.ts';
import { serviceAccounts } from './service-account.ts';
import { serviceAddresses } from './service-addresses.ts';
import { newServiceRanges } from './service-ranges.ts';
import { storageClasses } from './storage-class.ts';
import { storageProtection } from './storage-protection.ts';

export const admissionPlugins = (
  server: KubeContext,
  features: readonly ServerFeature[],
): readonly AdmissionPlugin[] => {
  const webhooks = webhookPlugins(server);
  return [
    namespaceLifecycle(server),
    terminatingDefinitions(server),
    limitRanger(server),
    nodeRestriction(server, nodeAccessOf(features)),
    nodeUpgrades(server),
    serviceAddresses(server),
    newServiceRanges(server),
    selectorTermLimit(server),
    podSecurity(server),
    priority(server),
    defaultTolerationSeconds(server.defaultTolerations),
    serviceAccounts(server),
    runtimeClasses(server),
    storageClasses(server),
    storageProtection,
    certificateSigningRequests(server),
    clusterTrustBundles(server),
    podCertificateRequests(server),
    ...features.flatMap(({ admission = [] }) => admission),
    escalation(server),
    parameterAccess(server),
    // As in kube-apiserver, policies and webhooks see what the plugins above have set, and quotas charge the
    // result.
    mutatingPolicies(server),
    webhooks.mutating,
    validatingPolicies(server),
    webhooks.validating,
    resourceQuotas(server),
  ];
};
